#include <fmt/format.h>

#include "application/apps/app_changes.hpp"
#include "application/apps/app_parts.hpp"
#include "application/toolkit/names.hpp"
#include "json/json_values.hpp"

namespace sluice::apps {
namespace {

constexpr std::int64_t ttl_seconds_default = 24 * 60 * 60;

std::optional<Error> check_ttl(Attributes& attributes) {
    if (!attributes.contains("ttl_seconds")) {
        attributes["ttl_seconds"] = std::to_string(ttl_seconds_default);
        return std::nullopt;
    }
    const auto ttl = integer_of(attributes, "ttl_seconds");
    if (ttl && *ttl >= ttl_seconds_min && *ttl <= ttl_seconds_max) return std::nullopt;
    return refuse("ttl_seconds", fmt::format("must be a number between {} and {}", ttl_seconds_min,
                                             ttl_seconds_max));
}

std::optional<Error> check_changeset(EntityChanges& changes, const Entity& app,
                                     const Attributes& attributes) {
    const auto id = text_of(attributes, "changeset_id");
    if (!id || find_in_app(changes, app, "changeset", *id)) return std::nullopt;
    return refuse("changeset_id", "names no changeset of this app");
}

// The job that is to expire it now and has not ended.
std::optional<Job> expiry_under_way(EntityChanges& changes, const Entity& temp_environment) {
    const auto id = text_of(temp_environment.attributes, "expire_job_id");
    const auto job_id = id ? parse_job_id(*id) : std::nullopt;
    if (!job_id) return std::nullopt;
    auto job = changes.find_job(*job_id);
    const bool is_under_way =
        job && !is_final(job->now.state) && job->spec->run_after <= changes.now();
    return is_under_way ? job : std::nullopt;
}

}  // namespace

Result<EntityAnswer> create_temp_environment(EntityChanges& changes, const Caller& caller,
                                             const std::string& app_id, Attributes attributes) {
    const auto app = find_app(changes, caller, app_id, Role::user);
    if (!app) return app.error();
    if (auto refusal = check_ttl(attributes)) return *refusal;
    if (auto refusal = check_profile(changes, *app, attributes, ProfileUse::temporary)) {
        return *refusal;
    }
    if (auto refusal = check_changeset(changes, *app, attributes)) return *refusal;

    attributes["owner"] = json_string(name_of(caller));
    auto temp = changes.create(part_of(*app, "temp_environment", std::move(attributes)));
    if (!temp) return temp.error();
    Attributes payload{{"temp_environment_id", json_string(temp->key.id)},
                       {"ttl_seconds", temp->attributes["ttl_seconds"]}};
    for (const char* name : {"kind", "source_id", "changeset_id"}) {
        const std::string_view given = json_of(temp->attributes, name);
        if (!given.empty()) payload[name] = given;
    }
    add_profile_of(changes, *temp, payload);
    const auto job =
        changes.submit_for(*temp, {.type = "temp_env_provision", .payload = to_json(payload)});
    if (!job) return job.error();
    changes.touch(*temp);
    return EntityAnswer{.entity = *temp};
}

Result<EntityAnswer> expire_temp_environment(EntityChanges& changes, const Caller& caller,
                                             const std::string& app_id, const std::string& id) {
    const auto app = find_app(changes, caller, app_id, Role::user);
    if (!app) return app.error();
    auto temp = find_in_app(changes, *app, "temp_environment", id);
    if (!temp) return temp.error();
    const bool is_owner = text_of(temp->attributes, "owner") == name_of(caller);
    if (!is_owner && role_of(*app, caller) < Role::config_manager) {
        return Error{ErrorCode::forbidden,
                     "only the owner of a temp environment, or a config_manager, may expire it",
                     {}};
    }
    if (!allows(changes, *temp, "expire")) {
        return Error{ErrorCode::invalid_transition,
                     fmt::format("{} is {}; only an active or a failed one can be expired",
                                 to_text(temp->key), temp->state),
                     {}};
    }
    if (const auto job = expiry_under_way(changes, *temp)) {
        return conflict(fmt::format("job {} is expiring {} already", to_text(job->spec->id),
                                    to_text(temp->key)));
    }
    if (auto refusal = enqueue_expiry(changes, *temp, changes.now())) return *refusal;
    return EntityAnswer{.entity = *temp};
}

std::optional<Error> enqueue_expiry(EntityChanges& changes, Entity& temp_environment,
                                    Timestamp at) {
    const auto job = changes.submit_for(
        temp_environment,
        {.type = "temp_env_expire",
         .payload = to_json({{"temp_environment_id", json_string(temp_environment.key.id)}}),
         .run_after = at});
    if (!job) return job.error();
    temp_environment.attributes["expire_job_id"] = json_string(to_text(*job));
    changes.save(temp_environment);
    return std::nullopt;
}

}  // namespace sluice::apps
