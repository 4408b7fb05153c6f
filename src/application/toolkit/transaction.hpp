#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "application/ports/store.hpp"
#include "application/ports/telemetry.hpp"
#include "application/toolkit/rules.hpp"
#include "domain/values/chance.hpp"

namespace sluice {

// The context of a use case: an open session, its time, and the source of ids and randomness.
// Events are gathered and written together; see flush().
class Transaction {
  public:
    Transaction(Session& session, const Rules& rules, Timestamp now, IdSource& ids, Chance& chance)
        : session_(session), rules_(rules), now_(now), ids_(ids), chance_(chance) {}

    JobReader& reader() { return session_.reader(); }
    JobStore& jobs() { return session_.jobs(); }
    LeaseStore& leases() { return session_.leases(); }
    HistoryStore& history() { return session_.history(); }
    IdempotencyStore& idempotency() { return session_.idempotency(); }
    EntityStore& entities() { return session_.entities(); }
    ArchiveStore& archive() { return session_.archive(); }
    LimitStore& limits() { return session_.limits(); }
    const Rules& rules() const { return rules_; }

    Timestamp now() const { return now_; }
    // Now, or the time of `last` if that is later: nodes' clocks differ a little, or were set, and
    // a job's history is told in order. Only for that history: due times are judged by now() alone.
    Timestamp now_after(Timestamp last) const { return std::max(now_, last); }
    std::int64_t next_number() { return ids_.next(now_); }
    JobId next_job_id() { return JobId{ids_.next(now_)}; }
    // The next tokens are larger than this one.
    void skip_tokens(LeaseToken used) { ids_.skip_to(used.value); }
    LeaseToken next_token() { return LeaseToken{ids_.next(now_)}; }
    double chance() { return chance_.next(); }

    // Adds the next event to the job's history and moves its head. Call it after the step was
    // applied and before the job is written, since the head is written with it. The event's time is
    // now, or `last` if that is later.
    void record(Job& job, Step step, std::optional<JobState> from, std::string actor,
                std::string detail = {}, Timestamp last = {});

    // Stores log lines now.
    void append(std::span<const LogLine> lines);

    // Writes changed entities and their events now, chained to those before them and sealed. The
    // events of an entity come in the order of their numbers.
    void write(std::vector<Entity> entities, std::vector<EntityEvent> events);

    // Whether anything was written.
    bool has_written() const { return written_; }
    void note_written() { written_ = true; }

    // Ended jobs were removed: their watchers have to look.
    void note_removed(std::span<const JobId> jobs);

    // Writes the events that were gathered so far, and the counts of sources.
    void flush();

    // Jobs that got events or log lines, for their watchers.
    const std::vector<JobId>& touched() const { return touched_; }
    CommitRecord& counts() { return counts_; }

  private:
    void count(const Event& event);
    void count_source(const Job& job, const Event& event);
    Digest head_of(const Entity& entity) const;

    Session& session_;
    const Rules& rules_;
    Timestamp now_;
    IdSource& ids_;
    Chance& chance_;
    std::vector<Event> events_;
    std::map<std::pair<std::string, std::string>, SourceCount> sources_;  // by tenant and name
    std::vector<JobId> touched_;
    std::map<EntityKey, Digest> entity_heads_;  // of entities that this session has written
    CommitRecord counts_;
    bool written_ = false;
};

inline std::string worker_actor(const std::string& worker_id) {
    return "worker:" + worker_id;
}
inline constexpr const char* engine_actor = "engine";

}  // namespace sluice
