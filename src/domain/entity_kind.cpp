#include "domain/entity_kind.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

using States = std::vector<std::string>;

constexpr auto choices = std::to_array<std::pair<ProfileChoice, std::string_view>>({
    {ProfileChoice::none, "none"},
    {ProfileChoice::temp, "temp"},
    {ProfileChoice::environments, "environments"},
    {ProfileChoice::target, "target"},
});

// ── sites and environments ──

// What each type of job does to its site or environment while it runs. Types that are not here
// leave it alone.
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
    // One job at a time has a site. Another one may start while the first waits for its retry.
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

// ── apps ──

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

// A kind of which all are in one state.
EntityKind record(std::string name) {
    return {.name = std::move(name), .initial = "active", .transitions = {}};
}

// How callers of the API are known; only the engine itself makes these.
EntityKind access_token() {
    return {.name = "access_token",
            .initial = "active",
            .transitions = {{"revoke", {"active"}, "revoked"}}};
}

}  // namespace

std::string_view to_text(ProfileChoice choice) {
    for (const auto& [value, text] : choices) {
        if (value == choice) return text;
    }
    return "none";
}

std::optional<ProfileChoice> parse_profile_choice(std::string_view text) {
    for (const auto& [value, name] : choices) {
        if (name == text) return value;
    }
    return std::nullopt;
}

std::optional<std::string> EntityKind::next_state(std::string_view from,
                                                  std::string_view action) const {
    for (const EntityTransition& row : transitions) {
        if (row.action == action &&
            std::find(row.from.begin(), row.from.end(), from) != row.from.end()) {
            return row.to;
        }
    }
    return std::nullopt;
}

bool EntityKind::has_action(std::string_view action) const {
    return std::any_of(transitions.begin(), transitions.end(),
                       [&](const EntityTransition& row) { return row.action == action; });
}

bool EntityKind::may_still(std::string_view state, std::string_view action) const {
    std::vector<std::string_view> reached{state};
    for (std::size_t i = 0; i < reached.size(); ++i) {
        if (next_state(reached[i], action)) return true;
        for (const EntityTransition& row : transitions) {
            const bool leads_on =
                std::find(row.from.begin(), row.from.end(), reached[i]) != row.from.end();
            const bool is_new = std::find(reached.begin(), reached.end(), row.to) == reached.end();
            if (leads_on && is_new) reached.push_back(row.to);
        }
    }
    return false;
}

const Follow* EntityKind::follow(std::string_view job_type) const {
    const auto found = std::find_if(follows.begin(), follows.end(), [&](const Follow& follow) {
        return follow.job_type == job_type;
    });
    return found == follows.end() ? nullptr : &*found;
}

std::vector<std::string> EntityKind::states() const {
    std::vector<std::string> all{initial};
    const auto add = [&](const std::string& state) {
        if (std::find(all.begin(), all.end(), state) == all.end()) all.push_back(state);
    };
    for (const EntityTransition& row : transitions) {
        for (const std::string& from : row.from) add(from);
        add(row.to);
    }
    return all;
}

EntityKinds EntityKinds::built_in() {
    EntityKinds kinds;
    kinds.put(site_like("site"));
    kinds.put(site_like("environment"));
    kinds.put(node());
    kinds.put(app());
    kinds.put(changeset());
    kinds.put(release());
    kinds.put(deployment());
    kinds.put(temp_environment());
    kinds.put(record("runtime_profile"));
    kinds.put(record("migration"));
    kinds.put(record("deploy_app"));
    kinds.put(record("runtime_node"));
    kinds.put(record("runtime_node_numbers"));
    kinds.put(access_token());
    kinds.put(record("engine_key"));
    return kinds;
}

void EntityKinds::put(EntityKind kind) {
    for (const Follow& follow : kind.follows) followed_types_.insert(follow.job_type);
    std::string name = kind.name;
    kinds_.insert_or_assign(std::move(name), std::move(kind));
}

const EntityKind* EntityKinds::find(std::string_view name) const {
    const auto found = kinds_.find(name);
    return found == kinds_.end() ? nullptr : &found->second;
}

std::vector<EntityKinds::Followed> EntityKinds::followed_by(const JobSpec& spec) const {
    std::vector<Followed> followed;
    if (!followed_types_.contains(spec.type)) return followed;
    const auto add = [&](std::string_view kind_name, const std::string& id) {
        const EntityKind* kind = id.empty() ? nullptr : find(kind_name);
        const Follow* follow = kind ? kind->follow(spec.type) : nullptr;
        if (!follow) return;
        const EntityKey key{spec.tenant, kind->name, id};
        const auto same = [&](const Followed& other) { return other.key == key; };
        if (std::none_of(followed.begin(), followed.end(), same))
            followed.push_back({key, kind, follow});
    };
    add("site", spec.site_id);
    add("node", spec.node_id);
    add(spec.entity_type, spec.entity_id);
    return followed;
}

}  // namespace sluice
