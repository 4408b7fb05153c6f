#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "application/apps/app_changes.hpp"
#include "application/apps/app_parts.hpp"
#include "application/toolkit/names.hpp"
#include "json/json_values.hpp"

namespace sluice::apps {
namespace {

struct FoundEnvironment {
    Entity app;
    Entity environment;
};
Result<FoundEnvironment> find_environment(EntityChanges& changes, const Caller& caller,
                                          const std::string& app_id, const std::string& id) {
    auto app = find_app(changes, caller, app_id, Role::config_manager);
    if (!app) return app.error();
    auto environment = find_in_app(changes, *app, "environment", id);
    if (!environment) return environment.error();
    return FoundEnvironment{*std::move(app), *std::move(environment)};
}

bool is_published(const Entity& release) {
    constexpr auto states =
        std::to_array<std::string_view>({"published", "deployed_partial", "deployed_full"});
    return std::find(states.begin(), states.end(), release.state) != states.end();
}

Result<Entity> find_published(EntityChanges& changes, const Entity& app, const std::string& id) {
    auto release = find_in_app(changes, app, "release", id);
    if (!release) return refuse("release_id", release.error().message, ErrorCode::not_found);
    if (is_published(*release)) return release;
    return conflict(
        fmt::format("release {} is {}; only a published one can be deployed", id, release->state));
}

// An environment has one deployment at a time. The refusal names the check that the other
// deployment waits for, if it does.
std::optional<Error> refuse_second_deployment(EntityChanges& changes, const Entity& environment) {
    const auto id = text_of(environment.attributes, "active_deployment_id");
    if (!id) return std::nullopt;
    const auto deployment = changes.find(sibling(environment, "deployment", *id));
    if (!deployment || (deployment->state != "pending" && deployment->state != "running")) {
        return std::nullopt;
    }
    std::string message = fmt::format("deployment {} is {} on environment {}", *id,
                                      deployment->state, environment.key.id);
    const EntityKind* kind = changes.rules().kinds.find("deployment");
    if (const auto closed =
            closed_gate(changes.checks(), changes.looks(), *deployment, *kind, "start")) {
        message += ": " + closed->message;
    }
    return conflict(std::move(message));
}

std::optional<Error> refuse_drift(EntityChanges& changes, const Entity& environment) {
    const std::vector<std::string> parts = drifted_parts(changes, environment);
    if (parts.empty()) return std::nullopt;
    return conflict(
        fmt::format("environment {} has drifted in {} since it was last validated: run its drift "
                    "check, and deploy when that has succeeded",
                    environment.key.id, fmt::join(parts, ", ")));
}

// The payload of a check of the environment as it is now.
Attributes check_payload(EntityChanges& changes, const Entity& environment) {
    Attributes payload{{"environment_id", json_string(environment.key.id)},
                       {"fingerprint", to_json(fingerprint(changes, environment))}};
    add_profile_of(changes, environment, payload);
    return payload;
}

Attributes deployment_attributes(const Entity& environment, const Entity& release) {
    Attributes attributes{{"environment_id", json_string(environment.key.id)},
                          {"release_id", json_string(release.key.id)}};
    const std::string_view head_sha = json_of(release.attributes, "head_sha");
    if (!head_sha.empty()) attributes["head_sha"] = head_sha;
    const std::string_view profile = json_of(environment.attributes, "runtime_profile_id");
    if (!profile.empty()) attributes["runtime_profile_id"] = profile;
    return attributes;
}

// Enqueues the check and, depending on it, the deployment itself.
std::optional<Error> enqueue_deployment(EntityChanges& changes, const Entity& environment,
                                        Entity& deployment) {
    Attributes payload = check_payload(changes, environment);
    payload.insert(deployment.attributes.begin(), deployment.attributes.end());
    payload["deployment_id"] = json_string(deployment.key.id);
    const auto check =
        changes.submit_for(deployment, {.type = "msuite_deploy", .payload = to_json(payload)});
    if (!check) return check.error();
    deployment.attributes["check_job_id"] = json_string(to_text(*check));
    const auto job = changes.submit_for(
        deployment, {.type = "deploy_release",
                     .payload = to_json(payload),
                     // Also while the worker of a canceled job has not stopped yet.
                     .exclusive_keys = {"environment:" + environment.key.id},
                     .depends_on = {*check}});
    if (!job) return job.error();
    changes.touch(deployment);
    return std::nullopt;
}

}  // namespace

Result<EntityAnswer> create_environment(EntityChanges& changes, const Caller& caller,
                                        const std::string& app_id, Attributes attributes) {
    const auto app = find_app(changes, caller, app_id, Role::config_manager);
    if (!app) return app.error();
    if (auto refusal = check_profile(changes, *app, attributes, ProfileUse::environment)) {
        return *refusal;
    }
    const auto environment = changes.create(part_of(*app, "environment", std::move(attributes)));
    if (!environment) return environment.error();
    return EntityAnswer{.entity = *environment};
}

Result<EntityAnswer> update_environment(EntityChanges& changes, const Caller& caller,
                                        const std::string& app_id, const std::string& id,
                                        const Attributes& wanted) {
    auto found = find_environment(changes, caller, app_id, id);
    if (!found) return found.error();
    auto& [app, environment] = *found;
    if (auto refusal = check_profile(changes, app, wanted, ProfileUse::environment))
        return *refusal;
    take_over(environment.attributes, wanted);
    changes.save(environment);
    return EntityAnswer{.entity = environment};
}

Result<EntityAnswer> deploy_release(EntityChanges& changes, const Caller& caller,
                                    const std::string& app_id, const std::string& environment_id,
                                    const std::string& release_id) {
    auto found = find_environment(changes, caller, app_id, environment_id);
    if (!found) return found.error();
    auto& [app, environment] = *found;
    const auto release = find_published(changes, app, release_id);
    if (!release) return release.error();
    if (auto refusal = refuse_second_deployment(changes, environment)) return *refusal;
    if (auto refusal = refuse_drift(changes, environment)) return *refusal;

    auto deployment =
        changes.create(part_of(app, "deployment", deployment_attributes(environment, *release)));
    if (!deployment) return deployment.error();
    if (auto refusal = enqueue_deployment(changes, environment, *deployment)) return *refusal;
    environment.attributes["active_deployment_id"] = json_string(deployment->key.id);
    changes.save(environment);
    return EntityAnswer{.entity = *deployment, .others = {environment}};
}

Result<EntityAnswer> check_drift(EntityChanges& changes, const Caller& caller,
                                 const std::string& app_id, const std::string& environment_id) {
    auto found = find_environment(changes, caller, app_id, environment_id);
    if (!found) return found.error();
    Entity& environment = found->environment;
    // Answered as its job_id, but not kept as that: the environment does not move with this job.
    const auto job = changes.submit({.tenant = environment.key.tenant,
                                     .project = environment.parent,
                                     .type = "runtime_profile_drift_check",
                                     .payload = to_json(check_payload(changes, environment)),
                                     .entity_type = environment.key.kind,
                                     .entity_id = environment.key.id});
    if (!job) return job.error();
    environment.attributes["drift_check_job_id"] = json_string(to_text(*job));
    changes.save(environment, "drift_check");
    EntityAnswer answer{.entity = environment};
    answer.entity->attributes["job_id"] = json_string(to_text(*job));
    return answer;
}

}  // namespace sluice::apps
