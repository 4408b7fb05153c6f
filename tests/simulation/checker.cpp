#include "simulation/checker.hpp"

#include <algorithm>
#include <set>

#include "application/verify_history.hpp"

namespace sluice::simulation {
namespace {

std::string name(const Job& job) {
    return "job " + std::to_string(job.spec.id.value) + " (" + std::string(to_text(job.state)) +
           ")";
}

using HeldKey = std::pair<std::string, std::string>;  // tenant, key

}  // namespace

void demand(bool holds, const std::string& what) {
    if (!holds) throw Violation(what);
}

void Checker::look(Timestamp now, bool on_time) {
    find_new_jobs();
    std::vector<JobId> open;
    for (const auto& [id, record] : records_) {
        if (!record.settled) open.push_back(id);
    }
    for (const std::optional<Job>& job : reader_.find(open)) {
        demand(job.has_value(), "a job has vanished");
        update(records_.at(job->spec.id), *job);
    }
    check_keys();
    if (on_time) check_dues(now);
}

void Checker::find_new_jobs() {
    const JobId last = records_.empty() ? JobId{} : records_.rbegin()->first;
    for (const JobId id : reader_.ids_after(last, 10'000)) {
        Record& record = records_[id];
        record.job = *reader_.find_one(id);
        record.hash = genesis(record.job.spec);
        record.job.run_after = record.job.spec.run_after;
        demand(sha256(record.job.spec.payload) == record.job.spec.payload_digest, "payload digest");
    }
}

void Checker::update(Record& record, const Job& job) {
    demand(job.spec == record.job.spec, name(job) + ": its spec has changed");
    read_events(record, job);
    read_lines(record, job);
    check_shape(record, job);
    record.job = job;
    if (is_final(job.state) && !job.lease) {
        record.settled = true;
        ++settled_;
    }
}

void Checker::read_events(Record& record, const Job& job) {
    if (record.seq == job.head.seq) {
        demand(job.head.hash == record.hash, name(job) + ": its head has changed without an event");
        return;
    }
    bool first = true;
    for (const Event& event : reader_.events(job.spec.id, record.seq, 10'000)) {
        demand(event.seq == record.seq + 1, name(job) + ": a gap in its events");
        demand(event.hash == chain_hash(record.hash, event, job.result),
               name(job) + ": a broken chain");
        read_event(record, event, first);
        record.seq = event.seq;
        record.hash = event.hash;
        first = false;
    }
    demand(job.head == ChainHead{record.seq, record.hash},
           name(job) + ": its head is not its last event");
    demand(job.state == record.state, name(job) + ": its history says another state");
}

void Checker::read_event(Record& record, const Event& event, bool first) {
    const std::string what = name(record.job) + " by " + std::string(to_text(event.step));
    if (event.step == Step::submitted) {
        demand(event.seq == 1 && event.to == JobState::queued, what + ": not at the start");
    } else if (event.step == Step::lease_closed) {
        demand(record.state && is_final(*record.state), what + ": it had not ended");
        demand(!event.from && !event.to, what + ": it changes the state");
    } else {
        demand(record.state && event.from == record.state, what + ": from another state");
        demand(event.to && event.to == next_state(*record.state, event.step),
               what + ": illegal step");
    }
    if (event.step == Step::claimed) read_claim(record, event, first);
    if (event.step == Step::handed_back) ++record.hand_backs;
    if (event.to) record.state = event.to;
}

void Checker::read_claim(Record& record, const Event& event, bool first) {
    const JobSpec& spec = record.job.spec;
    demand(event.lease && *event.lease > record.token,
           name(record.job) + ": tokens do not increase");
    record.token = *event.lease;
    ++record.claims;
    demand(event.at >= spec.run_after, name(record.job) + ": claimed before its time");
    // When it waited in the queue at the last look, what it waited for then still held.
    if (first) {
        demand(event.at >= record.job.run_after,
               name(record.job) + ": claimed before its retry was due");
    }
    for (const JobId id : spec.depends_on) {
        const std::optional<Job> dependency = reader_.find_one(id);
        demand(dependency && is_final(dependency->state) && dependency->completed_at <= event.at,
               name(record.job) + ": claimed before its dependency had ended");
        demand(dependency->state == JobState::succeeded ||
                   spec.on_dependency_failure == OnDependencyFailure::run,
               name(record.job) + ": claimed though its dependency had failed");
    }
}

void Checker::read_lines(Record& record, const Job& job) {
    if (record.lines == job.log_seq) return;
    for (const LogLine& line : reader_.logs(job.spec.id, record.lines, 10'000)) {
        demand(line.seq == ++record.lines, name(job) + ": a gap in its log");
    }
    demand(record.lines == job.log_seq, name(job) + ": its log number is wrong");
}

void Checker::check_shape(const Record& record, const Job& job) {
    demand(job.attempt == record.claims - record.hand_backs,
           name(job) + ": wrong number of attempts");
    demand(job.attempt <= job.spec.max_attempts, name(job) + ": too many attempts");
    demand(job.completed_at.has_value() == is_final(job.state), name(job) + ": completed_at");
    demand(job.state != JobState::running || job.lease, name(job) + ": runs without a lease");
    demand(job.state != JobState::queued || !job.lease, name(job) + ": waits with a lease");
    demand(!is_final(job.state) || !job.lease || job.lease->stop_requested,
           name(job) + ": its worker is not asked to stop");
    demand(!job.lease || job.lease->token == record.token, name(job) + ": an old lease is current");
}

void Checker::check_keys() const {
    std::set<HeldKey> held;
    for (const auto& [id, record] : records_) {
        if (record.settled || !record.job.lease) continue;
        for (const std::string& key : held_keys(record.job.spec)) {
            demand(held.insert({record.job.spec.tenant, key}).second, "two jobs hold " + key);
        }
    }
}

void Checker::check_dues(Timestamp now) const {
    for (const auto& [id, record] : records_) {
        const Job& job = record.job;
        if (record.settled || !job.lease) continue;
        demand(job.lease->until > now, name(job) + ": its lease ran out and was not dealt with");
        demand(job.lease->stop_requested || job.deadline() > now,
               name(job) + ": its deadline came and was not dealt with");
    }
}

bool Checker::may_run(const JobSpec& spec) const {
    return std::all_of(spec.depends_on.begin(), spec.depends_on.end(),
                       [&](JobId id) { return is_final(records_.at(id).job.state); });
}

std::optional<JobId> Checker::first_claimable(const ClaimFilter& filter, Timestamp now) const {
    std::set<HeldKey> held;
    for (const auto& [id, record] : records_) {
        if (record.settled || !record.job.lease) continue;
        for (const std::string& key : held_keys(record.job.spec)) {
            held.insert({record.job.spec.tenant, key});
        }
    }
    const Job* best = nullptr;
    for (const auto& [id, record] : records_) {
        const Job& job = record.job;
        if (job.state != JobState::queued || job.run_after > now) continue;
        if (!filter.accepts(lane_of(job.spec)) || !may_run(job.spec)) continue;
        const auto keys = held_keys(job.spec);
        if (std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
                return held.contains({job.spec.tenant, key});
            })) {
            continue;
        }
        if (!best || job.spec.priority > best->spec.priority) best = &job;
    }
    return best ? std::optional(best->spec.id) : std::nullopt;
}

std::string Checker::open_jobs() const {
    std::string text;
    for (const auto& [id, record] : records_) {
        if (!record.settled) text += name(record.job) + "; ";
    }
    return text;
}

void Checker::look_at_the_end() {
    const Verification verified = verify_history(reader_);
    demand(!verified.first_break, verified.first_break ? verified.first_break->what : "");
    for (const auto& [id, record] : records_) {
        demand(reader_.find_one(id) == record.job, name(record.job) + ": changed after its end");
        std::set<std::int64_t> positions;
        std::set<std::string> messages;
        for (const Event& event : reader_.events(id, 0, 10'000)) positions.insert(event.position());
        for (const LogLine& line : reader_.logs(id, 0, 10'000)) {
            positions.insert(line.position());
            demand(messages.insert(line.message).second,
                   name(record.job) + ": a line is there twice");
        }
        const auto count = record.seq + record.lines;
        demand(std::ssize(positions) == count && *positions.rbegin() == count,
               name(record.job) + ": events and lines do not share one sequence");
    }
}

Digest Checker::history_hash() {
    Digest hash{};
    for (const auto& [id, record] : records_) {
        for (const Event& event : reader_.events(id, 0, 10'000))
            hash = sha256(hash, bytes_of(event.hash));
        for (const LogLine& line : reader_.logs(id, 0, 10'000)) hash = sha256(hash, line.message);
    }
    return hash;
}

}  // namespace sluice::simulation
