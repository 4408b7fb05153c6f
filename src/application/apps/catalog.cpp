// The job types and kinds of entities of apps.
#include <array>

#include "application/apps/app_contract.hpp"

namespace sluice::apps {
namespace {

using namespace std::chrono_literals;
using States = std::vector<std::string>;

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

EntityKind app() {
    return {
        .name = "app",
        .initial = "active",
        .transitions = {{"archive", {"active"}, "archived"}, {"restore", {"archived"}, "active"}}};
}

EntityKind changeset() {
    const States open{"submitted", "in_review",  "changes_requested",
                      "approved",  "conflicted", "needs_revalidation"};
    States resubmittable = open;
    resubmittable.push_back("rejected");
    States withdrawable = open;
    withdrawable.push_back("queued");
    const States carried{"head_sha", "base_sha"};
    return {.name = "changeset",
            .initial = "draft",
            .transitions = {{"submit", {"draft"}, "submitted"},
                            {"resubmit", resubmittable, "submitted"},
                            {"start_review", {"submitted"}, "in_review"},
                            {"approve", {"in_review"}, "approved"},
                            {"request_changes", {"in_review"}, "changes_requested"},
                            {"reject", {"in_review"}, "rejected"},
                            {"queue", {"approved"}, "queued"},
                            {"move_to_draft", withdrawable, "draft"},
                            {"release", {"queued"}, "released"},
                            {"conflict", {"queued"}, "conflicted"},
                            {"need_revalidation", {"queued"}, "needs_revalidation"}},
            .gates = {{"start_review", "msuite_submit", ProfileChoice::temp},
                      {"queue", "msuite_submit", ProfileChoice::temp}},
            .orders = {{"submit", "msuite_submit", carried, ProfileChoice::temp},
                       {"resubmit", "msuite_submit", carried, ProfileChoice::temp},
                       {"queue", "msuite_merge", carried, ProfileChoice::temp}},
            .follows = {{.job_type = "revalidate_queued_changeset",
                         .on_start = "",
                         .on_success = "",
                         .on_failure = "need_revalidation",
                         .on_outcome = {{"conflicted", "conflict"},
                                        {"needs_revalidation", "need_revalidation"}}}},
            .flow = "submit"};
}

EntityKind release() {
    const States out{"published", "deployed_partial"};
    return {.name = "release",
            .initial = "draft_release",
            .transitions = {{"assemble", {"draft_release", "validated"}, "assembling"},
                            {"assembled", {"assembling"}, "validated"},
                            {"assembly_failed", {"assembling"}, "draft_release"},
                            {"publish", {"validated"}, "published"},
                            {"deployed_some", out, "deployed_partial"},
                            {"deployed_everywhere", out, "deployed_full"},
                            {"roll_back",
                             {"published", "deployed_partial", "deployed_full"},
                             "rolled_back"}},
            .gates = {{"publish", "msuite_merge", ProfileChoice::environments}},
            .orders = {{"assemble", "release_assemble", {"changeset_ids"}, ProfileChoice::none},
                       {"assembled",
                        "msuite_merge",
                        {"head_sha", "assembly_id"},
                        ProfileChoice::environments}},
            .follows = {{.job_type = "release_assemble",
                         .on_start = "",
                         .on_success = "assembled",
                         .on_failure = "assembly_failed",
                         .takes = {"head_sha"}}},
            .flow = "publish"};
}

EntityKind deployment() {
    return {.name = "deployment",
            .initial = "pending",
            .transitions = {{"start", {"pending", "running"}, "running"},
                            {"succeed", {"running"}, "succeeded"},
                            {"fail", {"pending", "running"}, "failed"}},
            .gates = {{"start", "msuite_deploy", ProfileChoice::target}},
            .follows = {{"deploy_release", "start", "succeed", "fail"}},
            .flow = "deploy"};
}

EntityKind temp_environment() {
    return {.name = "temp_environment",
            .initial = "provisioning",
            .transitions = {{"provisioned", {"provisioning"}, "active"},
                            {"provisioning_failed", {"provisioning"}, "failed"},
                            {"expire", {"active", "expiring", "failed"}, "expiring"},
                            {"expired", {"expiring"}, "expired"},
                            {"expiry_failed", {"expiring"}, "failed"}},
            .follows = {{.job_type = "temp_env_provision",
                         .on_start = "",
                         .on_success = "provisioned",
                         .on_failure = "provisioning_failed",
                         .takes = {"url"}},
                        {"temp_env_expire", "expire", "expired", "expiry_failed"}}};
}

}  // namespace

void declare(JobTypes& types, EntityKinds& kinds) {
    for (const CheckedType& checked : checked_types) {
        types.put({.name = checked.name,
                   .max_attempts = checked.retries + 1,
                   .timeout = checked.timeout,
                   .backoff = Backoff::none()});
    }
    kinds.put(app());
    kinds.put(changeset());
    kinds.put(release());
    kinds.put(deployment());
    kinds.put(temp_environment());
    kinds.put(EntityKind::record("runtime_profile"));
    kinds.put(EntityKind::record("migration"));
}

}  // namespace sluice::apps
