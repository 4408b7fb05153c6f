#include <algorithm>

#include "application/entities/entity_requests.hpp"
#include "simulation/names.hpp"
#include "simulation/world.hpp"

// Requests of clients: submit, submit again, cancel, replay, explain, reset sites, and requests
// about what is not theirs.
namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;

const std::string& other_than(const std::string& tenant) {
    return tenant == tenants[0] ? tenants[1] : tenants[0];
}

Backoff random_backoff(Dice& dice) {
    switch (dice.below(3)) {
        case 0: return Backoff::none();
        case 1: return Backoff::list({1s, 4s, 9s});
        default: return Backoff::exponential(1s, 10s);
    }
}

EntityAction reset_of(const std::string& tenant, const std::string& site) {
    Caller admin;
    admin.tenant = tenant;
    admin.scopes = {Scope::admin};
    const EntityKey key{tenant, "site", site};
    return {.touches = {key}, .decide = [admin, key](EntityChanges& changes) {
                return change_entity(changes, admin, {.key = key, .action = "reset"});
            }};
}

}  // namespace

Task<void> World::client(int number) {
    const std::string& tenant = tenants[static_cast<std::size_t>(number) % tenants.size()];
    while (is_chaos()) {
        co_await timeline_.sleep(1ms * dice_.below(6000));
        switch (dice_.below(12)) {
            case 0:
            case 1: co_await cancel(tenant); break;
            case 2: co_await replay(tenant); break;
            case 3: co_await explain(tenant); break;
            case 4:
                if (sites_ > 0) co_await reset_site(tenant);
                break;
            default: co_await submit(tenant);
        }
    }
}

JobSpec World::new_spec(const std::string& tenant) {
    static const std::vector<Duration> timeouts{0s, 3s, 10s, 30s};
    static const std::vector<std::string> keys{"a", "b", "c"};
    JobSpec made = spec(dice_.one_in(3) ? "deploy" : "build");
    made.tenant = tenant;
    made.queue = dice_.one_in(4) ? "slow" : "default";
    made.priority = dice_.below(3) - 1;
    if (dice_.one_in(4)) made.run_after = client_time() + 1s * dice_.below(15);
    made.timeout = dice_.pick(timeouts);
    made.max_attempts = 1 + dice_.below(3);
    made.backoff = random_backoff(dice_);
    made.retry_on_timeout = dice_.one_in(3);
    if (dice_.one_in(3)) made.exclusive_keys = {dice_.pick(keys)};
    if (dice_.one_in(9)) made.exclusive_keys = {"a", "c"};
    if (sites_ > 0 && dice_.one_in(5)) {
        made.site_id = "s" + std::to_string(dice_.below(sites_));
        if (dice_.one_in(2)) made.type = site_job_type;
    }
    if (dice_.one_in(5)) made.labels = {"gpu"};
    if (has_limits_) made.source = limit_dice_.pick(sources);
    if (dice_.one_in(2)) made.on_dependency_failure = OnDependencyFailure::run;
    made.correlation_id = "ref-" + std::to_string(++references_);
    made.payload = "\"" + made.correlation_id + "\"";
    made.payload_digest = sha256(made.payload);
    return made;
}

// Now and then on a job of another tenant, or on itself in a circle.
void World::add_dependencies(SubmitJobs& command) {
    const std::string& tenant = command.jobs.front().tenant;
    for (JobSpec& job : command.jobs) {
        const auto& known = ledger_.known(dice_.one_in(40) ? other_than(tenant) : tenant);
        while (!known.empty() && dice_.one_in(3)) job.depends_on.push_back(dice_.pick(known));
        std::sort(job.depends_on.begin(), job.depends_on.end());
        const auto repeats = std::unique(job.depends_on.begin(), job.depends_on.end());
        job.depends_on.erase(repeats, job.depends_on.end());
    }
    if (command.jobs.size() == 1 || dice_.one_in(2)) return;
    command.siblings.resize(command.jobs.size());
    for (std::size_t i = 1; i < command.siblings.size(); ++i) {
        if (dice_.one_in(2)) command.siblings[i].push_back(i - 1);
        if (i > 1 && dice_.one_in(3)) command.siblings[i].push_back(0);
    }
    if (dice_.one_in(20)) command.siblings[0].push_back(command.siblings.size() - 1);
}

SubmitJobs World::new_submission(const std::string& tenant) {
    SubmitJobs command;
    command.actor = "client:" + tenant;
    const int count = dice_.one_in(4) ? 2 + dice_.below(3) : 1;
    command.is_batch = count > 1;
    for (int i = 0; i < count; ++i) command.jobs.push_back(new_spec(tenant));
    add_dependencies(command);
    if (!dice_.one_in(3)) {
        // The other tenant has a key of the same name.
        command.idempotency_key = "key-" + std::to_string(++keys_[tenant]);
        command.body_digest = digest(references_);
    }
    return command;
}

// A request with a key is sent again until there is an answer, and sometimes after that.
Task<void> World::submit(const std::string& tenant) {
    const SubmitJobs command = new_submission(tenant);
    const bool has_key = !command.idempotency_key.empty();
    ledger_.asked(command);
    for (int tries = has_key ? 8 : 1; tries > 0; --tries) {
        const auto reply = co_await ask("submit", command);
        if (reply.is_ok()) {
            ledger_.accepted(command, **reply.answer);
            if (!has_key || !dice_.one_in(8)) break;
        } else if (reply.answer && !is_passing(reply.answer->error().code)) {
            const ErrorCode code = reply.answer->error().code;
            const bool is_blocked = has_limits_ && code == ErrorCode::forbidden;
            demand(is_blocked || code == ErrorCode::invalid || code == ErrorCode::resource_failed,
                   reply.answer->error().message);
            break;
        }
        co_await timeline_.sleep(1ms * dice_.below(3000));
    }
    if (has_key && dice_.one_in(15)) co_await submit_otherwise(command);
}

// A key belongs to one request: another body is refused, or was the first to arrive.
Task<void> World::submit_otherwise(SubmitJobs command) {
    command.body_digest = digest(1'000'000 + references_);
    for (JobSpec& job : command.jobs) {
        job.correlation_id = "ref-" + std::to_string(++references_);
        job.payload = "\"" + job.correlation_id + "\"";
        job.payload_digest = sha256(job.payload);
    }
    ledger_.asked(command);
    const auto reply = co_await ask("submit", command);
    if (reply.is_ok()) ledger_.accepted(command, **reply.answer);
}

std::optional<JobId> World::any_job(const std::string& tenant) {
    const auto& known = ledger_.known(tenant);
    if (known.empty()) return std::nullopt;
    return dice_.pick(known);
}

// No request tells anything about another tenant's job.
Task<void> World::cancel(const std::string& tenant) {
    const bool meddles = dice_.one_in(6);
    const auto job = any_job(meddles ? other_than(tenant) : tenant);
    if (!job) co_return;
    const CancelJob command{.job = *job,
                            .tenant = tenant,
                            .reason = "chance",
                            .actor = "client",
                            .is_admin = dice_.one_in(2)};
    const auto reply = co_await ask("cancel", command);
    if (meddles) demand_unknown(reply.answer);
    if (reply.is_ok()) ledger_.canceled(**reply.answer);
}

Task<void> World::replay(const std::string& tenant) {
    const bool meddles = dice_.one_in(6);
    const auto job = any_job(meddles ? other_than(tenant) : tenant);
    if (!job) co_return;
    ReplayJob command{.job = *job, .tenant = tenant, .actor = "client"};
    if (dice_.one_in(2)) {
        command.idempotency_key = "replay-" + std::to_string(++keys_[tenant]);
        command.body_digest = digest(keys_[tenant]);
    }
    ledger_.asked(command);
    const auto reply = co_await ask("replay", command);
    if (meddles) demand_unknown(reply.answer);
    if (reply.is_ok()) ledger_.replayed(command, **reply.answer);
}

Task<void> World::explain(const std::string& tenant) {
    const bool meddles = dice_.one_in(6);
    const auto job = any_job(meddles ? other_than(tenant) : tenant);
    if (!job) co_return;
    const ExplainJob command{.job = *job, .tenant = tenant};
    const auto reply = co_await ask("explain", command);
    if (meddles) demand_unknown(reply.answer);
    if (reply.is_ok()) demand(!(*reply.answer)->reasons.empty(), "there is always a reason");
}

Task<void> World::reset_site(const std::string& tenant) {
    const EntityAction command = reset_of(tenant, "s" + std::to_string(dice_.below(sites_)));
    co_await ask("reset", command);
}

}  // namespace sluice::simulation
