// The job types and kinds of entities of sites: nodes, sites and environments on them.
#include "application/sites/sites_contract.hpp"

#include <array>

namespace sluice::sites {
namespace {

using namespace std::chrono_literals;
using States = std::vector<std::string>;

// Nodes, and sites on them: 30 minutes, three attempts, after 1, 5 and 15 minutes.
constexpr std::string_view node_type = "node_provision";
constexpr auto types_on_sites = std::to_array<std::string_view>({
    "site_create",
    "site_import",
    "env_create",
    "env_deploy",
    "env_update",
    "env_promote",
    "env_restore",
    "backup_create",
    "backup_cleanup",
    "domain_add",
    "release_rollback",
    "cache_purge",
    "env_cache_toggle",
    "domain_remove",
    "drift_check",
    "health_check",
});

JobType type_on_node(std::string_view name) {
    return {.name = std::string(name),
            .max_attempts = 3,
            .timeout = 30min,
            .backoff = Backoff::list({1min, 5min, 15min}),
            .needs_node = true,
            .admin_cancels = true,
            .needs_error = true};
}

// The effect of each type of job on its site or environment while it runs. Other types do not
// change it.
struct SiteJob {
    const char* type;
    const char* action;
};
constexpr auto site_jobs = std::to_array<SiteJob>({
    {"env_create", "clone"},
    {"site_create", "deploy"},
    {"site_import", "deploy"},
    {"env_deploy", "deploy"},
    {"env_update", "deploy"},
    {"env_promote", "deploy"},
    {"release_rollback", "deploy"},
    {"domain_add", "deploy"},
    {"domain_remove", "deploy"},
    {"cache_purge", "deploy"},
    {"env_cache_toggle", "deploy"},
    {"env_restore", "restore"},
});

EntityKind site_like(std::string name) {
    // Only one job at a time has a site. Another one may start while the first waits for its retry.
    const States free{"active", "cloning", "deploying", "restoring"};
    const States busy{"cloning", "deploying", "restoring"};
    EntityKind kind{.name = std::move(name),
                    .initial = "active",
                    .transitions = {{"clone", free, "cloning"},
                                    {"deploy", free, "deploying"},
                                    {"restore", free, "restoring"},
                                    {"done", busy, "active"},
                                    {"fail", busy, "failed"},
                                    {"reset", {"failed"}, "active"}},
                    .is_implicit = true};
    for (const SiteJob& job : site_jobs)
        kind.follows.push_back({job.type, job.action, "done", "fail"});
    return kind;
}

EntityKind node() {
    return {
        .name = "node",
        .initial = "active",
        .transitions = {{"disable", {"active"}, "disabled"}, {"enable", {"disabled"}, "active"}}};
}

}  // namespace

void declare(JobTypes& types, EntityKinds& kinds) {
    JobType provision = type_on_node(node_type);
    provision.refuses_site = true;
    types.put(std::move(provision));
    for (const std::string_view name : types_on_sites) {
        JobType type = type_on_node(name);
        type.needs_site = true;
        types.put(std::move(type));
    }
    kinds.put(site_like("site"));
    kinds.put(site_like("environment"));
    kinds.put(node());
}

}  // namespace sluice::sites
