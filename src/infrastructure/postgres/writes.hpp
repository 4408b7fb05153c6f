#pragma once

#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "infrastructure/postgres/cluster.hpp"
#include "infrastructure/postgres/connection.hpp"

namespace sluice::postgres {

// What a session writes, gathered so that each table gets one statement however many jobs there
// are, and nobody waits for any of them before the commit.
//
// A statement for one job must not overtake another one for the same job: before a job is written a
// second time, what was gathered is sent. The same goes for entities.
class Writes {
  public:
    explicit Writes(Connection& connection) : connection_(connection) {}

    // Says that how this job stands is about to be written.
    void touch(JobId id);

    void insert_job(const Job& job);
    void insert_lane(LaneId id, const Lane& lane);
    void insert_ready(LaneId lane, const JobSpec& spec);
    void insert_timed(LaneId lane, const Job& job);
    void insert_blockers(LaneId lane, const JobSpec& spec);
    void delete_blockers(JobId id);
    void delete_taken(std::string_view place);        // a row of ready, by its ctid
    void delete_queued(LaneId lane, const Job& job);  // wherever it waits

    void insert_requeued(const Job& job, LeaseToken last);
    void delete_requeued(JobId id);
    void insert_done(const Job& job);
    void update_done(const Job& job);

    void insert_lease(const Job& job);
    void update_lease(const Job& job);
    void delete_lease(JobId id);

    void insert_event(const Event& event);
    void insert_line(const LogLine& line);

    void insert_request(const IdempotentRequest& request);  // fails when there is one
    void put_request(const IdempotentRequest& request);

    void insert_entity(const Entity& entity);  // fails when there is one
    void update_entity(const Entity& entity);
    void insert_entity_event(const EntityEvent& event);

    // Sends what was gathered.
    void flush();

    bool has_written() const { return has_written_; }
    void note_written() { has_written_ = true; }
    bool is_pending(JobId id) const { return touched_.contains(id); }

    // The largest number of a job, a lease or an entity that was written.
    std::int64_t largest_number() const { return largest_; }

  private:
    void touch(const EntityKey& key);
    void send(const Query& query, Columns& rows);

    Connection& connection_;
    std::unordered_set<JobId> touched_;
    std::set<EntityKey> touched_entities_;
    std::int64_t largest_ = 0;
    bool has_written_ = false;

    using enum Type;
    Columns lanes_{integer, text, text, text, text};
    Columns jobs_{integer, text, text, text,  small,   integer, integer, text, text,
                  text,    text, text, small, integer, text,    flag,    flag, text,
                  text,    text, text, text,  integer, bytes,   bytes,   text, text};
    Columns ready_{integer, small, integer, text};
    Columns timed_{integer, integer, integer, small, text};
    Columns blockers_{integer, integer, integer, small};
    Columns left_ready_{integer, small, integer};
    Columns left_timed_{integer, integer};
    Columns left_blockers_{integer};
    Columns left_parked_{text, text, integer, small, integer};
    std::vector<std::string> taken_;
    Columns requeued_{integer, integer, small,   integer, small, text,   text,
                      text,    text,    integer, integer, bytes, integer};
    Columns left_requeued_{integer};
    Columns done_{integer, small, integer, integer, small,   integer, small, text,
                  text,    text,  text,    integer, integer, bytes,   text,  text};
    Columns changed_done_ = done_;
    Columns leases_{integer, integer, text,    integer, integer, integer, flag,
                    integer, integer, small,   integer, small,   text,    text,
                    text,    text,    integer, integer, bytes,   integer, flag};
    Columns changed_leases_ = leases_;
    Columns left_leases_{integer};
    Columns events_{integer, integer, small,   small, small, small,
                    integer, integer, integer, text,  text,  bytes};
    Columns lines_{integer, integer, small, small, integer, integer, text, text};
    Columns new_requests_{text, text, integer, bytes, text};
    Columns requests_{text, text, integer, bytes, text};
    Columns entities_{text, text, text, integer, text, text, integer, integer, integer, text};
    Columns changed_entities_ = entities_;
    Columns entity_events_{text, text, text, integer, integer, text,
                           text, text, text, integer, text};
};

// The keys that a job holds while it runs, as ready and parked keep them; empty: none.
std::string keys_text(const JobSpec& spec);

}  // namespace sluice::postgres
