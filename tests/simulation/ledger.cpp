#include "simulation/ledger.hpp"

#include <algorithm>

#include "support/builders.hpp"
#include "support/test_engine.hpp"

namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;

// A node's clock may run faster than time by one hundredth, while it follows one that was set, and
// two nodes' clocks differ by up to 60 ms.
Duration certain_part(Duration term) {
    return term - term / 50 - 61ms;
}

bool shares_key(const JobSpec& a, const JobSpec& b) {
    if (a.tenant != b.tenant) return false;
    const auto keys = held_keys(a);
    if (keys.empty()) return false;
    const auto others = held_keys(b);
    return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
        return std::find(others.begin(), others.end(), key) != others.end();
    });
}

bool depends_on(const JobSpec& spec, JobId id) {
    return std::binary_search(spec.depends_on.begin(), spec.depends_on.end(), id);
}

bool is_as_wanted(const JobSpec& wanted, const JobSpec& accepted) {
    return accepted.payload == wanted.payload && accepted.tenant == wanted.tenant &&
           accepted.queue == wanted.queue && accepted.type == wanted.type &&
           accepted.source == wanted.source && accepted.priority == wanted.priority &&
           accepted.labels == wanted.labels && accepted.run_after >= wanted.run_after &&
           accepted.timeout == wanted.timeout && accepted.max_attempts == wanted.max_attempts &&
           accepted.retry_on_timeout == wanted.retry_on_timeout &&
           accepted.site_id == wanted.site_id && accepted.exclusive_keys == wanted.exclusive_keys &&
           accepted.on_dependency_failure == wanted.on_dependency_failure &&
           std::all_of(wanted.depends_on.begin(), wanted.depends_on.end(),
                       [&](JobId id) { return depends_on(accepted, id); });
}

}  // namespace

// ── clients ──

void Ledger::asked(const SubmitJobs& command) {
    for (const JobSpec& spec : command.jobs) references_.try_emplace(spec.correlation_id, 0);
}

void Ledger::accepted(const SubmitJobs& command, const Submitted& answer) {
    const std::vector<JobId> ids = ids_of(answer.jobs);
    demand(ids.size() == command.jobs.size(), "not all jobs were accepted");
    const std::string& tenant = command.jobs.front().tenant;
    if (!command.idempotency_key.empty()) {
        const auto [before, is_new] = by_key_.try_emplace({tenant, command.idempotency_key}, ids);
        demand(is_new || before->second == ids, "one key stands for two requests");
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const JobSpec& wanted = command.jobs[i];
        demand(is_as_wanted(wanted, answer.jobs[i].spec), "another job was accepted");
        demand(answer.jobs[i].now.state == JobState::queued, "a job is accepted as queued");
        if (command.siblings.empty()) continue;
        for (const std::size_t sibling : command.siblings[i]) {
            demand(depends_on(answer.jobs[i].spec, ids[sibling]), "a dependency was not accepted");
        }
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const JobSpec& wanted = command.jobs[i];
        int& count = references_[wanted.correlation_id];
        if (count == 0) known_[tenant].push_back(ids[i]);
        count = 1;
    }
}

void Ledger::replayed(const ReplayJob& command, const Job& answer) {
    if (!command.idempotency_key.empty()) {
        const auto [before, is_new] = replays_by_key_.try_emplace(
            {answer.spec->tenant, command.idempotency_key}, answer.spec->id);
        demand(is_new || before->second == answer.spec->id, "one key stands for two replays");
    }
    demand(answer.spec->replay_of == command.job, "a replay names another job");
    demand(answer.spec->id != command.job, "a replay is a new job");
    if (!replays_.emplace(answer.spec->id, command.job).second) return;
    known_[answer.spec->tenant].push_back(answer.spec->id);
}

void Ledger::canceled(const Job& answer) {
    demand(answer.now.state == JobState::canceled, "a canceled job is not canceled");
    ends_[answer.spec->id] = JobState::canceled;
}

// ── workers ──

std::size_t Ledger::claimed(const ClaimJobs& claim, const Job& job, Timestamp asked,
                            Timestamp heard) {
    const LeaseId lease = lease_of(job);
    demand(job.now.state == JobState::running, lease, " is of a job that does not run");
    demand(job.lease->worker_id == claim.worker_id, lease, " is another worker's");
    demand(claim.filter.accepts(lane_of(job.spec)), lease, " is not what the claim asked for");
    for (const Holding& other : holdings_) {
        demand(other.lease != lease, lease, " was given twice");
    }
    Holding holding;
    holding.lease = lease;
    holding.spec = job.spec;
    holding.term = claim.term;
    holding.heard = heard;
    holding.alive_until = asked + certain_part(claim.term);
    if (released_.contains(lease.job)) holding.alive_until = asked;
    check_alone(holding, asked, heard);
    LeaseToken& newest = newest_[lease.job];
    newest = std::max(newest, lease.token);
    holdings_.push_back(std::move(holding));
    return holdings_.size() - 1;
}

// No other worker that certainly holds a lease now has the same job, or a key of it; nor had one
// that held it all the time from the request to the answer.
void Ledger::check_alone(const Holding& newcomer, Timestamp asked, Timestamp heard) const {
    for (const Holding& other : holdings_) {
        if (other.is_over() || other.unsure || other.alive_until <= heard) continue;
        if (newcomer.alive_until <= heard && other.heard > asked) continue;
        demand(other.lease.job != newcomer.lease.job, newcomer.lease, " overlaps with ",
               other.lease);
        demand(!shares_key(other.spec, newcomer.spec), newcomer.lease, " shares a key with ",
               other.lease);
    }
}

void Ledger::speaks(Holding& holding) const {
    holding.newer = newest_.at(holding.lease.job);
}

void Ledger::wrote(const Holding& holding, Timestamp asked) const {
    demand(!holding.over_at || *holding.over_at > asked, holding.lease, " spoke after its end");
    demand(holding.newer <= holding.lease.token, holding.lease,
           " spoke though another has its job");
}

void Ledger::may_be_released(JobId job) {
    released_.insert(job);
    for (Holding& holding : holdings_) {
        if (holding.lease.job == job) holding.alive_until = Timestamp::min();
    }
}

// A heartbeat under way may make the lease shorter at any time from now on, whether it is answered
// or not. A longer term is not counted on: an earlier heartbeat may be late.
void Ledger::may_shorten(Holding& holding, const Heartbeat& said, Timestamp asked) {
    if (!said.term) return;
    holding.term = std::min(holding.term, *said.term);
    holding.alive_until = std::min(holding.alive_until, asked + certain_part(holding.term));
}

void Ledger::logged(const Holding& holding, const AppendLogs& said, Timestamp asked) {
    wrote(holding, asked);
    for (const LogEntry& entry : said.entries) lines_[said.lease.job].insert(entry.message);
}

void Ledger::extended(Holding& holding, const Extended& answer, Timestamp asked) {
    wrote(holding, asked);
    if (answer.stop_requested) return;  // it may be the last term, which is not extended
    if (released_.contains(holding.lease.job)) return;
    holding.alive_until = asked + certain_part(holding.term);
}

void Ledger::reported(Holding& holding, const Report& said, const Job& answer, Timestamp asked,
                      Timestamp heard) {
    const bool repeats = std::any_of(sent_.begin(), sent_.end(), [&](const Sent& sent) {
        return sent.report.lease == said.lease && sent.report.outcome == said.outcome;
    });
    // A worker may report that it stopped, after it was told that its job had ended.
    const bool stops = said.outcome == Outcome::canceled && answer.now.state != JobState::succeeded;
    const bool was_over = holding.over_at && *holding.over_at <= asked;
    demand(!was_over || repeats || stops || holding.unsure, holding.lease,
           " reported after its end");
    demand(answer.spec->id == said.lease.job, "the answer is about another job");
    if (said.outcome == Outcome::succeeded) {
        demand(answer.now.state == JobState::succeeded, holding.lease,
               ": its success was not kept");
        results_[said.lease.job] = said.result;
    }
    if (is_final(answer.now.state)) ends_[said.lease.job] = answer.now.state;
    sent_.push_back({said, answer});
    if (!holding.over_at) holding.over_at = heard;
}

void Ledger::handed_back(Holding& holding, Timestamp asked, Timestamp heard) {
    wrote(holding, asked);
    holding.over_at = heard;
}

void Ledger::disk_is_full(Timestamp since) {
    full_since_ = since;
    for (Holding& holding : holdings_) holding.full_at.reset();
}

void Ledger::disk_was_full(Timestamp since, Timestamp until) {
    for (Holding& holding : holdings_) {
        if (!holding.full_at || holding.is_over() || holding.alive_until <= since) continue;
        holding.alive_until += std::max(certain_part(until - *holding.full_at), Duration{0});
    }
}

void Ledger::refused(Holding& holding, const Error& error, Timestamp asked, Timestamp heard,
                     bool had_ended) {
    // A late answer may be from the last time that the disk was full.
    const bool is_full = error.code == ErrorCode::store_full && asked >= full_since_;
    if (is_full && !holding.full_at) holding.full_at = heard;
    if (is_passing(error.code)) return;
    const bool is_gone =
        error.code == ErrorCode::not_found && removed_->contains(holding.lease.job);
    demand(is_gone || error.code == ErrorCode::lease_lost || error.code == ErrorCode::conflict,
           holding.lease, ": ", error.message);
    if (is_gone || error.code == ErrorCode::lease_lost) {
        demand(holding.is_over() || had_ended || holding.alive_until <= heard, holding.lease,
               " was refused while it was alive");
    }
    if (!holding.over_at) holding.over_at = heard;
}

// ── the end ──

void Ledger::look_at_the_end(Checker& checker) {
    std::map<std::string, int> found;
    int replays = 0;
    std::vector<JobId> all = checker.reader().ids_after({}, 1'000'000);
    all.insert(all.end(), removed_->begin(), removed_->end());
    for (const JobId id : all) {
        const Job job = *checker.last_seen(id);
        replays += job.spec->replay_of.has_value();
        if (job.spec->replay_of) continue;
        demand(references_.contains(job.spec->correlation_id), job, " came from nowhere");
        ++found[job.spec->correlation_id];
    }
    for (const auto& [reference, acknowledged] : references_) {
        demand(found[reference] >= acknowledged, reference, " was acknowledged and is lost");
        demand(found[reference] <= 1, reference, " was accepted twice");
    }
    demand(replays <= replays_asked_, "there are more replays than were asked for");
    for (const auto& [id, kept] : lines_) {
        if (removed_->contains(id)) continue;
        std::set<std::string> missing = kept;
        for (const LogLine& line : checker.reader().logs(id, 0, 10'000)) {
            missing.erase(line.message);
        }
        demand(missing.empty(), "a line of a log was acknowledged and is lost");
    }
    for (const auto& [id, source] : replays_) {
        const auto job = checker.last_seen(id);
        demand(job && job->spec->replay_of == source, "a replay is lost");
    }
    for (const auto& [id, state] : ends_) {
        const auto job = checker.last_seen(id);
        demand(job && job->now.state == state, *job, ": somebody was told that it is ",
               to_text(state));
    }
    for (const auto& [id, result] : results_) {
        demand(checker.last_seen(id)->now.result == result, "a result was not kept");
    }
}

}  // namespace sluice::simulation
