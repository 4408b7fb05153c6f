#include "application/deploy/deploy_contract.hpp"

#include <algorithm>
#include <array>

#include "application/deploy/deploy_jobs.hpp"
#include "application/deploy/placements.hpp"
#include "application/entities/entity_requests.hpp"

namespace sluice::deploy {
namespace {

constexpr auto kinds =
    std::to_array<std::string_view>({node_kind, "runtime_node_numbers", app_kind});

// Puts the apps of claimed jobs on nodes. Most are on one already: those are only read, not locked,
// so that claims do not wait for each other.
void place_claimed(EntityChanges& changes, std::span<const Job* const> started) {
    std::vector<const Job*> deploying;
    std::vector<EntityKey> apps;
    for (const Job* job : started) {
        if (!is_deploy_job(*job) || app_of(*job).empty()) continue;
        deploying.push_back(job);
        apps.push_back(app_key(app_of(*job)));
    }
    if (apps.empty()) return;
    const auto seen = changes.looks().find(apps);
    std::vector<EntityKey> homeless;
    for (const std::optional<Entity>& app : seen) {
        if (app && app->parent.empty()) homeless.push_back(app->key);
    }
    changes.fetch(homeless);
    for (std::size_t i = 0; i < apps.size(); ++i) {
        if (!seen[i] || !seen[i]->parent.empty()) continue;
        changes.follow(deploying[i]->spec->id, worker_actor(deploying[i]->lease->worker_id));
        (void)place_app(changes, apps[i].id);  // where there is no node, it stays on none
    }
}

std::optional<Error> refuse_change(EntityChanges& /*changes*/, const EntityKey& key,
                                   const std::string& /*parent*/) {
    const bool is_ours = std::find(kinds.begin(), kinds.end(), key.kind) != kinds.end();
    return is_ours ? std::optional(only_admins_change(key)) : std::nullopt;
}

// The job of a silent runner is given to another; how long a deployment may take is the operator's
// choice.
void declare(JobTypes& types, EntityKinds& known) {
    types.put({.name = build_and_deploy,
               .max_attempts = 3,
               .timeout = Duration{0},
               .backoff = Backoff::none()});
    for (const std::string_view kind : kinds) known.put(EntityKind::record(std::string(kind)));
}

}  // namespace

ContractRules contract_rules() {
    return {.declare = declare, .after_starts = place_claimed, .refuse_change = refuse_change};
}

}  // namespace sluice::deploy
