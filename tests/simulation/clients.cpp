#include <algorithm>

#include "simulation/world.hpp"

// What clients do to the engine: submit, submit again, cancel, replay and ask why.
namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> tenants{"acme", "umbrella"};

Backoff random_backoff(Dice& dice) {
    switch (dice.below(3)) {
        case 0: return Backoff::none();
        case 1: return Backoff::list({1s, 5s, 15s});
        default: return Backoff::exponential(2s, 30s);
    }
}

}  // namespace

void World::client_speaks() {
    switch (dice_.below(10)) {
        case 0:
        case 1: return cancel();
        case 2: return replay();
        case 3: return explain();
        case 4: return submit_again();
        default: return submit();
    }
}

JobSpec World::random_spec(const std::string& tenant) {
    static const std::vector<Duration> timeouts{0s, 5s, 20s, 60s};
    static const std::vector<std::string> keys{"a", "b", "c"};
    JobSpec made = spec(dice_.one_in(3) ? "deploy" : "build");
    made.tenant = tenant;
    made.queue = dice_.one_in(4) ? "slow" : "default";
    made.priority = dice_.below(3) - 1;
    made.run_after = dice_.one_in(4) ? now_ + std::chrono::seconds(dice_.below(30)) : at(0);
    made.timeout = dice_.pick(timeouts);
    made.max_attempts = 1 + dice_.below(3);
    made.backoff = random_backoff(dice_);
    made.retry_on_timeout = dice_.one_in(3);
    if (dice_.one_in(3)) made.exclusive_keys = {dice_.pick(keys)};
    if (dice_.one_in(9)) made.exclusive_keys = {"a", "c"};
    if (dice_.one_in(6)) made.site_id = dice_.one_in(2) ? "s1" : "s2";
    if (dice_.one_in(5)) made.labels = {"gpu"};
    if (dice_.one_in(2)) made.on_dependency_failure = OnDependencyFailure::run;
    made.correlation_id = "ref-" + std::to_string(references_.size());
    references_[made.correlation_id] = 0;
    made.payload = "\"" + made.correlation_id + "\"";
    made.payload_digest = sha256(made.payload);
    return made;
}

void World::submit() {
    const std::string& tenant = dice_.pick(tenants);
    Submission submission;
    SubmitJobs& command = submission.command;
    command.actor = "client:" + tenant;
    const int count = dice_.one_in(4) ? 2 + dice_.below(3) : 1;
    command.is_batch = count > 1;
    const std::vector<JobId>& known = known_[tenant];
    for (int i = 0; i < count; ++i) {
        JobSpec made = random_spec(tenant);
        while (!known.empty() && dice_.one_in(3)) made.depends_on.push_back(dice_.pick(known));
        std::sort(made.depends_on.begin(), made.depends_on.end());
        const auto repeats = std::unique(made.depends_on.begin(), made.depends_on.end());
        made.depends_on.erase(repeats, made.depends_on.end());
        command.jobs.push_back(std::move(made));
    }
    if (count > 1 && dice_.one_in(2)) {
        command.siblings.resize(command.jobs.size());
        for (std::size_t i = 1; i < command.siblings.size(); ++i) {
            if (dice_.one_in(2)) command.siblings[i].push_back(i - 1);
            if (dice_.one_in(3)) command.siblings[i].push_back(0);
        }
    }
    const std::size_t place = submissions_.size();
    if (dice_.one_in(3)) {
        command.idempotency_key = "key-" + std::to_string(place);
        command.body_digest = digest(static_cast<int>(place));
    }
    submission.at = now_;
    submissions_.push_back(submission);
    send(Rank::submit, command,
         [this, place](const Result<Submitted>& answer) { read_submitted(place, answer); });
}

void World::submit_again() {
    if (submissions_.empty()) return submit();
    const std::size_t place = static_cast<std::size_t>(dice_.below(int(submissions_.size())));
    const Submission& submission = submissions_[place];
    if (submission.command.idempotency_key.empty() || submission.at + 23h < now_) return;
    send(Rank::submit, submission.command,
         [this, place](const Result<Submitted>& answer) { read_submitted(place, answer); });
}

void World::read_submitted(std::size_t place, const Result<Submitted>& answer) {
    note("submit", answer);
    Submission& submission = submissions_[place];
    if (!answer) {
        demand(answer.error().code == ErrorCode::unavailable, answer.error().message);
        return;
    }
    const std::vector<JobId> ids = ids_of(answer->jobs);
    for (const Job& job : answer->jobs) note("accepted", Result<Job>(job));
    demand(ids.size() == submission.command.jobs.size(), "not all jobs were accepted");
    if (submission.ids) {
        demand(answer->repeated && ids == *submission.ids, "one key stands for two requests");
        return;
    }
    submission.ids = ids;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const JobSpec& asked = submission.command.jobs[i];
        demand(answer->jobs[i].spec.payload == asked.payload, "another job was accepted");
        demand(answer->jobs[i].state == JobState::queued, "a job is accepted as queued");
        references_[asked.correlation_id] = 1;
        known_[asked.tenant].push_back(ids[i]);
    }
}

void World::cancel() {
    const auto& known = known_[dice_.pick(tenants)];
    if (known.empty()) return;
    CancelJob command{.job = dice_.pick(known), .reason = "chance", .actor = "client"};
    send(Rank::cancel, command, [this](const Result<Job>& answer) {
        note("cancel", answer);
        if (answer) demand(answer->state == JobState::canceled, "a canceled job is not canceled");
        if (!answer) {
            demand(answer.error().code == ErrorCode::conflict ||
                       answer.error().code == ErrorCode::unavailable,
                   "cancel: " + answer.error().message);
        }
    });
}

void World::replay() {
    const std::string& tenant = dice_.pick(tenants);
    const auto& known = known_[tenant];
    if (known.empty()) return;
    const ReplayJob command{.job = dice_.pick(known), .actor = "client"};
    send(Rank::replay, command, [this, tenant, command](const Result<Job>& answer) {
        note("replay", answer);
        if (!answer) return;
        demand(answer->spec.replay_of == command.job, "a replay names another job");
        known_[tenant].push_back(answer->spec.id);
    });
}

void World::explain() {
    const auto& known = known_[dice_.pick(tenants)];
    if (known.empty()) return;
    send(Rank::explain, ExplainJob{.job = dice_.pick(known)},
         [this](const Result<Explanation>& answer) {
             note("explain", answer);
             if (!answer) return;
             demand(!answer->reasons.empty(), "a job is never without a reason");
             for (const Reason& reason : answer->reasons)
                 note_text(reason.code + ": " + reason.detail);
         });
}

// Every job that was acknowledged is there once; every job that is there was asked for.
void World::check_references() {
    std::map<std::string, int> found;
    for (const JobId id : reader_->ids_after({}, 1'000'000)) {
        const Job job = *reader_->find_one(id);
        if (job.spec.replay_of) continue;
        demand(references_.contains(job.spec.correlation_id), "a job came from nowhere");
        ++found[job.spec.correlation_id];
    }
    for (const auto& [reference, acknowledged] : references_) {
        demand(found[reference] >= acknowledged, reference + " was acknowledged and is lost");
        demand(found[reference] <= 1, reference + " was accepted twice");
    }
}

}  // namespace sluice::simulation
