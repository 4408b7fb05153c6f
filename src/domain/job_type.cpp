#include "domain/job_type.hpp"

#include <array>
#include <string_view>

namespace sluice {
namespace {

using namespace std::chrono_literals;

// Configuration checks and releases: a failed attempt is repeated at once.
struct CheckedType {
    const char* name;
    int retries;
    Duration timeout;
};
constexpr auto checked_types = std::to_array<CheckedType>({
    {"msuite_submit", 3, 5min},
    {"msuite_merge", 3, 5min},
    {"msuite_deploy", 2, 10min},
    {"revalidate_queued_changeset", 3, 5min},
    {"release_assemble", 2, 10min},
    {"deploy_release", 1, 15min},
    {"runtime_profile_drift_check", 3, 5min},
    {"temp_env_provision", 2, 5min},
    {"temp_env_expire", 3, 1min},
});

// Nodes, and sites on them: 30 minutes, three attempts, after 1, 5 and 15 minutes.
constexpr std::string_view node_type = "node_provision";
constexpr auto site_types = std::to_array<std::string_view>({
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

}  // namespace

JobTypes JobTypes::built_in() {
    JobTypes types;
    for (const CheckedType& checked : checked_types) {
        types.put({.name = checked.name,
                   .max_attempts = checked.retries + 1,
                   .timeout = checked.timeout,
                   .backoff = Backoff::none()});
    }
    JobType provision = type_on_node(node_type);
    provision.refuses_site = true;
    types.put(std::move(provision));
    for (const std::string_view name : site_types) {
        JobType type = type_on_node(name);
        type.needs_site = true;
        types.put(std::move(type));
    }
    // A runner that goes silent is replaced; how long a deployment may take is the operator's
    // choice.
    types.put({.name = "BUILD_AND_DEPLOY",
               .max_attempts = 3,
               .timeout = Duration{0},
               .backoff = Backoff::none()});
    return types;
}

void JobTypes::put(JobType type) {
    std::string name = type.name;
    types_.insert_or_assign(std::move(name), std::move(type));
}

const JobType* JobTypes::find(std::string_view name) const {
    const auto found = types_.find(name);
    if (found != types_.end()) return &found->second;
    return strict_ ? nullptr : &default_;
}

}  // namespace sluice
