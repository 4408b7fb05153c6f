#include "application/apps/app_contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "application/apps/app_changes.hpp"
#include "application/apps/app_parts.hpp"
#include "json/json_values.hpp"

namespace sluice::apps {
namespace {

constexpr auto kinds =
    std::to_array<std::string_view>({"app", "changeset", "release", "deployment",
                                     "temp_environment", "runtime_profile", "migration"});

// Requests name these by "<kind>_id".
constexpr auto named_kinds = std::to_array<std::string_view>(
    {"changeset", "release", "deployment", "environment", "temp_environment", "runtime_profile"});

void add_named(const std::string& tenant, std::string_view kind, const Attributes& fields,
               std::vector<EntityKey>& keys) {
    if (auto id = text_of(fields, fmt::format("{}_id", kind)); id && !id->empty()) {
        keys.push_back({tenant, std::string(kind), *std::move(id)});
    }
}

bool is_of_app(const JobSpec& job) {
    return !job.project.empty() && !job.entity_id.empty();
}

// The end of a job in an environment is recorded there, and may move its release and deployment.
void touched_by(const JobSpec& job, std::vector<EntityKey>& keys) {
    if (!is_of_app(job)) return;
    const Attributes payload = json_members(job.payload);
    if (!payload.contains("environment_id")) return;
    for (const char* kind : {"deployment", "environment", "runtime_profile"}) {
        add_named(job.tenant, kind, payload, keys);
    }
    if (job.type == "deploy_release") add_named(job.tenant, "release", payload, keys);
}

void before_all_ends(EntityChanges& changes, std::span<const Job> ended) {
    std::vector<const Job*> of_apps;
    for (const Job& job : ended) {
        if (is_of_app(job.spec)) of_apps.push_back(&job);
    }
    if (!of_apps.empty()) before_ends(changes, of_apps);
}

void after_end(EntityChanges& changes, const Job& ended) {
    if (is_of_app(ended.spec)) after_job(changes, ended);
}

// An app is never deleted, so it need not be locked.
bool belongs_to_app(EntityChanges& changes, const EntityKey& key, const std::string& parent) {
    const bool by_kind = std::find(kinds.begin(), kinds.end(), key.kind) != kinds.end();
    return by_kind || (!parent.empty() && changes.looks().find_one({key.tenant, "app", parent}));
}

std::optional<Error> refuse_change(EntityChanges& changes, const EntityKey& key,
                                   const std::string& parent) {
    if (!belongs_to_app(changes, key, parent)) return std::nullopt;
    return Error{
        ErrorCode::forbidden,
        fmt::format("a {} of an app is changed under /api/apps; only admins change it here",
                    key.kind),
        ""};
}

}  // namespace

ContractRules contract_rules() {
    return {.declare = declare,
            .touched_by = touched_by,
            .before_ends = before_all_ends,
            .after_end = after_end,
            .refuse_change = refuse_change};
}

std::vector<EntityKey> touched_in_app(const std::string& tenant, const std::string& app,
                                      std::string_view kind, const std::string& id,
                                      const Attributes& fields) {
    std::vector<EntityKey> keys;
    if (!app.empty()) keys.push_back({tenant, "app", app});
    if (auto made = text_of(fields, "id"); app.empty() && made) {
        keys.push_back({tenant, "app", *std::move(made)});
    }
    if (!id.empty()) keys.push_back({tenant, std::string(kind), id});
    for (const std::string_view named : named_kinds) add_named(tenant, named, fields, keys);
    for (std::string& changeset : texts_of(fields, "changeset_ids")) {
        keys.push_back({tenant, "changeset", std::move(changeset)});
    }
    return keys;
}

}  // namespace sluice::apps
