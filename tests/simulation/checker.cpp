#include "simulation/checker.hpp"

#include <algorithm>
#include <set>

#include "application/audit/verify_history.hpp"
#include "simulation/lease_ends.hpp"

namespace sluice::simulation {
namespace {

using HeldKey = std::pair<std::string, std::string>;  // tenant, key

}  // namespace

std::string describe(const Job& job) {
    return "job " + std::to_string(job.spec->id.value) + " (" +
           std::string(to_text(job.now.state)) + ")";
}

void Checker::look_at(std::vector<JobId> touched, std::optional<Timestamp> cutoff) {
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    leases_changed_ = false;
    const std::vector<std::optional<Job>> found = reader_->find(touched);
    for (const std::optional<Job>& job : found) {
        if (job) update(*job);
    }
    for (std::size_t i = 0; i < found.size(); ++i) {  // there are also ids of entities
        if (!found[i] && records_.contains(touched[i])) note_removal(touched[i], cutoff);
    }
    if (leases_changed_ || !started_.empty()) {
        limits_.started(std::exchange(started_, {}), leases());
        check_keys();
        check_sites();
        entity_chains_.look_at(reader_->entities());
    }
}

void Checker::look_at_all(std::optional<Timestamp> cutoff) {
    std::vector<JobId> ids = reader_->ids_after({}, 1'000'000);
    std::vector<JobId> missing;
    for (const auto& [id, record] : records_) {
        if (!std::binary_search(ids.begin(), ids.end(), id)) missing.push_back(id);
    }
    std::erase_if(ids, [&](JobId id) {
        const auto found = records_.find(id);
        return found != records_.end() && found->second.settled;
    });
    look_at(std::move(ids), cutoff);
    for (const JobId id : missing) note_removal(id, cutoff);
    if (leases_changed_) limits_.set_leases(leases());
    if (cutoff) note_what_is_kept(*cutoff);
}

// A removed job has ended, long enough ago, and no open job needs it.
void Checker::note_removal(JobId id, std::optional<Timestamp> cutoff) {
    if (removed_.contains(id)) return;
    Record& record = records_.at(id);
    demand(is_final(record.job.now.state), record.job, " has vanished");
    demand(cutoff && *record.job.now.completed_at < *cutoff + clocks_differ_by, record.job,
           " was removed too early");
    demand(!is_needed(id), record.job, " was removed, and an open job depends on it");
    removed_.insert(id);
    coverage_.removal(record.job.now.state);
    if (record.settled) return;
    record.settled = true;  // its lease was closed in the run that removed it
    leases_changed_ = true;
    leases_changed_ = true;
    open_.erase(id);
    ++settled_;
}

void Checker::note_what_is_kept(Timestamp cutoff) {
    constexpr Duration lateness = std::chrono::seconds(15);
    for (const auto& [id, record] : records_) {
        if (!record.settled || removed_.contains(id)) continue;
        if (*record.job.now.completed_at + lateness > cutoff) continue;
        if (is_needed(id)) {
            coverage_.kept("an open job depends on it");
        } else if (!record.job.spec->idempotency_key.empty()) {
            coverage_.kept("a key stands for it");
        }
    }
}

bool Checker::is_needed(JobId id) const {
    return std::any_of(open_.begin(), open_.end(), [&](JobId open) {
        const Job& job = records_.at(open).job;
        const auto& needed = job.spec->depends_on;
        return !is_final(job.now.state) && std::binary_search(needed.begin(), needed.end(), id);
    });
}

std::optional<Job> Checker::last_seen(JobId id) {
    return removed_.contains(id) ? std::optional(records_.at(id).job) : reader_->find_one(id);
}

void Checker::update(const Job& job) {
    const auto [place, is_new] = records_.try_emplace(job.spec->id);
    Record& record = place->second;
    if (is_new) {
        demand(sha256(job.spec->payload) == job.spec->payload_digest, "payload digest");
        record.job = job;
        record.job.lease.reset();
        record.hash = genesis(job.spec);
        record.job.now.run_after = job.spec->run_after;
        open_.insert(job.spec->id);
    }
    demand(!record.settled || job == record.job, job, ": changed after its end");
    if (record.settled) return;
    demand(job.spec == record.job.spec, job, ": its spec has changed");
    read_events(record, job);
    read_lines(record, job, job.now.log_seq);
    demand(record.log_hash == job.now.log_hash, job, ": its lines are not those it was given");
    check_shape(record, job);
    leases_changed_ =
        leases_changed_ || record.job.lease != job.lease || record.job.now.state != job.now.state;
    record.job = job;
    if (is_final(job.now.state) && !job.lease) {
        record.settled = true;
        open_.erase(job.spec->id);
        ++settled_;
    }
}

void Checker::read_events(Record& record, const Job& job) {
    if (record.seq == job.now.head.seq) {
        demand(job.now.head.hash == record.hash, job, ": its head has changed without an event");
        return;
    }
    bool first = true;
    const std::vector<Event> events = reader_->events(job.spec->id, record.seq, 10'000);
    for (const Event& event : events) {
        demand(event.seq == record.seq + 1, job, ": a gap in its events");
        read_lines(record, job, event.log_seq);
        demand(event.hash == chain_hash(record.hash, event,
                                        cover_of(job.spec, job.now.result, record.log_hash)),
               job, ": a broken chain");
        if (event.log_seq > 0) coverage_.chain("an event covers lines");
        read_event(record, event, first);
        const bool is_kept =
            job.lease || (&event != &events.back() && events.back().step == Step::lease_closed);
        const char* const way = how_it_closes_its_lease(event, *record.state, is_kept);
        if (way != nullptr) limits_.returned(lane_of(job.spec), way);
        record.seq = event.seq;
        record.hash = event.hash;
        first = false;
    }
    demand(job.now.head == ChainHead{record.seq, record.hash}, job,
           ": its head is not its last event");
    demand(job.now.state == record.state, job, ": its history says another state");
}

void Checker::read_event(Record& record, const Event& event, bool first) {
    const Job& job = record.job;
    if (event.step == Step::submitted) {
        demand(event.seq == 1 && event.to == JobState::queued, job,
               ": submitted, but not at the start");
        limits_.submitted(job.spec);
    } else if (event.step == Step::lease_closed) {
        demand(record.state && is_final(*record.state), job,
               ": its lease is closed before it ended");
        demand(!event.from && !event.to, job, ": the end of its lease changes its state");
    } else {
        demand(record.state && event.from == record.state, job, ": ", to_text(event.step),
               " from another state");
        demand(event.to && event.to == next_state(*record.state, event.step), job, ": ",
               to_text(event.step), " is no legal step");
    }
    const bool under_lease = event.from == JobState::running || event.step == Step::lease_closed;
    demand(!under_lease || event.lease == record.token, job, ": ", to_text(event.step),
           " under a lease that is not the last one");
    demand(!times_in_order_ || event.at + clocks_differ_by >= record.last, job,
           ": its events are not in the order of their times");
    record.last = event.at;
    coverage_.step(event.from, event.step, event.to);
    if (event.step == Step::claimed) read_claim(record, event, first);
    if (event.step == Step::handed_back) ++record.hand_backs;
    if (event.to) record.state = event.to;
}

void Checker::read_claim(Record& record, const Event& event, bool first) {
    const JobSpec& spec = record.job.spec;
    demand(event.lease && *event.lease > record.token, record.job, ": tokens do not increase");
    record.token = *event.lease;
    ++record.claims;
    started_.push_back(lane_of(spec));
    // A job without a delay is not kept waiting by a clock that was set back.
    const bool at_once = spec.run_after <= spec.created_at;
    demand(at_once || record.claims > 1 || event.at >= spec.run_after, record.job,
           ": claimed before its time");
    // When it waited in the queue at the last look, the reason for the wait was still there.
    if (first && (!at_once || record.claims > 1)) {
        demand(event.at >= record.job.now.run_after, record.job,
               ": claimed before its retry was due");
    }
    for (const JobId id : spec.depends_on) {
        const std::optional<Job> dependency = reader_->find_one(id);
        // Both may have happened since the last look: the end of the job, which needs its
        // dependency no longer, and the removal of that.
        if (!dependency && is_final(reader_->find_one(spec.id)->now.state)) continue;
        demand(dependency && is_final(dependency->now.state), record.job,
               ": claimed before its dependency had ended");
        demand(dependency->now.state == JobState::succeeded ||
                   spec.on_dependency_failure == OnDependencyFailure::run,
               record.job, ": claimed though its dependency had failed");
    }
}

LimitModel::Leases Checker::leases() const {
    LimitModel::Leases leases;
    for (const JobId id : leased()) ++leases[lane_of(records_.at(id).job.spec)];
    return leases;
}

std::vector<JobId> Checker::leased() const {
    std::vector<JobId> found;
    for (const JobId id : open_) {
        if (records_.at(id).job.lease) found.push_back(id);
    }
    return found;
}

void Checker::read_rules() {
    limits_.read(reader_->entities());
    limits_.set_leases(leases());
}

void Checker::read_lines(Record& record, const Job& job, std::int64_t last) {
    if (record.lines == last) return;
    const int missing = static_cast<int>(last - record.lines);
    for (const LogLine& line : reader_->logs(job.spec->id, record.lines, missing)) {
        demand(line.seq == ++record.lines, job, ": a gap in its log");
        record.log_hash = log_hash(record.log_hash.value_or(Digest{}), line);
    }
    demand(record.lines == last, job, ": its log number is wrong");
}

void Checker::check_shape(const Record& record, const Job& job) {
    demand(job.now.attempt == record.claims - record.hand_backs, job, ": wrong number of attempts");
    demand(job.now.attempt <= job.spec->max_attempts, job, ": too many attempts");
    demand(job.now.completed_at.has_value() == is_final(job.now.state), job, ": completed_at");
    demand(job.now.state != JobState::running || job.lease, job, ": runs without a lease");
    demand(job.now.state != JobState::queued || !job.lease, job, ": waits with a lease");
    demand(!is_final(job.now.state) || !job.lease || job.lease->stop_requested, job,
           ": its worker is not asked to stop");
    demand(!job.lease || job.lease->token == record.token, job, ": an old lease is current");
}

void Checker::check_keys() const {
    std::set<HeldKey> held;
    for (const JobId id : open_) {
        const Job& job = records_.at(id).job;
        if (!job.lease) continue;
        for (std::string& key : held_keys(job.spec)) {
            demand(held.emplace(job.spec->tenant, std::move(key)).second, "two jobs hold one key");
        }
    }
}

// While one of its jobs runs, a site's state says so.
void Checker::check_sites() {
    for (const JobId id : open_) {
        const Job& job = records_.at(id).job;
        if (job.now.state != JobState::running || !moves_site(job.spec)) continue;
        const auto site =
            reader_->entities().find_one({job.spec->tenant, "site", job.spec->site_id});
        demand(site && site->state == "deploying" &&
                   site->attributes.at("job_id") == '"' + to_text(id) + '"',
               job, " runs, and its site does not know");
    }
}

const Job* Checker::overdue(Timestamp now, Duration patience) const {
    for (const JobId id : open_) {
        const Job& job = records_.at(id).job;
        if (!job.lease) continue;
        if (job.lease->until + patience <= now) return &job;
        if (!job.lease->stop_requested && job.deadline() != never &&
            job.deadline() + patience <= now) {
            return &job;
        }
    }
    return nullptr;
}

bool Checker::may_run(const JobSpec& spec) const {
    return std::all_of(spec.depends_on.begin(), spec.depends_on.end(),
                       [&](JobId id) { return is_final(records_.at(id).job.now.state); });
}

const Job* Checker::first_claimable(const ClaimFilter& filter, Timestamp now, bool or_perhaps) {
    std::set<HeldKey> held;
    for (const JobId id : open_) {
        const Job& job = records_.at(id).job;
        if (!job.lease) continue;
        for (std::string& key : held_keys(job.spec)) held.emplace(job.spec->tenant, std::move(key));
    }
    const Job* best = nullptr;
    for (const JobId id : open_) {
        const Job& job = records_.at(id).job;
        if (job.now.state != JobState::queued) continue;
        const bool at_once =
            job.now.run_after == job.spec->run_after && job.now.run_after <= job.spec->created_at;
        if (!at_once && job.now.run_after > now) continue;
        if (!filter.accepts(lane_of(job.spec)) || !may_run(job.spec)) continue;
        const auto keys = held_keys(job.spec);
        if (std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
                return held.contains({job.spec->tenant, key});
            })) {
            continue;
        }
        if (best && job.spec->priority <= best->spec->priority) continue;
        const LimitModel::Answer permitted = limits_.may_start(lane_of(job.spec));
        if (permitted == LimitModel::Answer::no) continue;
        if (permitted == LimitModel::Answer::yes || or_perhaps) best = &job;
    }
    return best;
}

std::string Checker::open_jobs() const {
    std::string text;
    for (const JobId id : open_) text += describe(records_.at(id).job) + "; ";
    return text;
}

void Checker::look_at_the_end() {
    const Verification verified = verify_history(*reader_);
    demand(!verified.first_break(), verified.first_break() ? verified.first_break()->what : "");
    demand(verified.partly_covered == 0, "a history is covered in part only");
    entity_chains_.look_at(reader_->entities());
    for (const auto& [id, record] : records_) {
        if (removed_.contains(id)) {
            demand(!reader_->find_one(id) && reader_->events(id, 0, 1).empty() &&
                       reader_->logs(id, 0, 1).empty(),
                   record.job, ": something is left of it after its removal");
            continue;
        }
        demand(reader_->find_one(id) == record.job, record.job, ": changed after its end");
        std::set<std::int64_t> positions;
        std::set<std::string> messages;
        for (const Event& event : reader_->events(id, 0, 10'000))
            positions.insert(event.position());
        for (const LogLine& line : reader_->logs(id, 0, 10'000)) {
            positions.insert(line.position());
            demand(messages.insert(line.message).second, record.job, ": a line is there twice");
        }
        const auto count = record.seq + record.lines;
        demand(std::ssize(positions) == count && *positions.rbegin() == count, record.job,
               ": events and lines do not share one sequence");
    }
}

Digest Checker::history_hash() {
    Digest hash{};
    for (const auto& [id, record] : records_) {
        for (const Event& event : reader_->events(id, 0, 10'000))
            hash = sha256(hash, bytes_of(event.hash));
        for (const LogLine& line : reader_->logs(id, 0, 10'000)) hash = sha256(hash, line.message);
    }
    return hash;
}

}  // namespace sluice::simulation
