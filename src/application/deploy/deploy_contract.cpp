#include "application/deploy/deploy_contract.hpp"

#include <algorithm>
#include <array>

#include "application/deploy/deploy_jobs.hpp"
#include "application/deploy/placements.hpp"
#include "application/entity_requests.hpp"

namespace sluice::deploy {
namespace {

constexpr auto kinds =
    std::to_array<std::string_view>({node_kind, "runtime_node_numbers", app_kind});

// Puts the apps of claimed jobs on nodes. Most are on one already: those are only looked at, so
// that claims do not wait for each other.
void place_claimed(EntityDesk& desk, std::span<const Job* const> started) {
    std::vector<const Job*> deploying;
    std::vector<EntityKey> apps;
    for (const Job* job : started) {
        if (!is_deploy_job(*job) || app_of(*job).empty()) continue;
        deploying.push_back(job);
        apps.push_back(app_key(app_of(*job)));
    }
    if (apps.empty()) return;
    const auto seen = desk.looks().find(apps);
    std::vector<EntityKey> homeless;
    for (const std::optional<Entity>& app : seen) {
        if (app && app->parent.empty()) homeless.push_back(app->key);
    }
    desk.fetch(homeless);
    for (std::size_t i = 0; i < apps.size(); ++i) {
        if (!seen[i] || !seen[i]->parent.empty()) continue;
        desk.follow(deploying[i]->spec->id, worker_actor(deploying[i]->lease->worker_id));
        (void)place_app(desk, apps[i].id);  // without a node it is on none
    }
}

std::optional<Error> refuse_change(EntityDesk& /*desk*/, const EntityKey& key,
                                   const std::string& /*parent*/) {
    const bool is_ours = std::find(kinds.begin(), kinds.end(), key.kind) != kinds.end();
    return is_ours ? std::optional(only_admins_change(key)) : std::nullopt;
}

}  // namespace

ContractRules contract_rules() {
    return {.after_starts = place_claimed, .refuse_change = refuse_change};
}

}  // namespace sluice::deploy
