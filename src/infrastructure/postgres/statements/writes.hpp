#pragma once

#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "infrastructure/postgres/cluster/cluster.hpp"
#include "infrastructure/postgres/connection/connection.hpp"
#include "infrastructure/postgres/schema/table_rows.hpp"
#include "infrastructure/postgres/schema/tables.hpp"

namespace sluice::postgres {

// The writes of a session, gathered so that each table gets one statement however many jobs there
// are, and the session waits for none of them before the commit.
//
// A statement for one job must not overtake another one for the same job: before a job is written a
// second time, the gathered writes are sent. The same goes for entities.
class Writes {
  public:
    explicit Writes(Connection& connection) : connection_(connection) {}

    // To be called before the state of this job is written.
    void touch(JobId id);

    void insert_job(const Job& job);  // and its dependencies, unless it has ended
    void insert_lane(LaneId id, const Lane& lane);
    void insert_ready(LaneId lane, const JobSpec& spec);
    void insert_timed(LaneId lane, const Job& job);
    void insert_blockers(LaneId lane, const JobSpec& spec);
    void delete_blockers(JobId id);
    void delete_taken(std::string_view ctid);         // a row of ready, by its ctid
    void delete_queued(LaneId lane, const Job& job);  // whichever table it is in

    void insert_requeued(const Job& job, LeaseToken last);
    void delete_requeued(JobId id);
    void insert_done(const Job& job);
    void update_done(const Job& job);

    void insert_lease(const Job& job, LaneId lane);
    void update_lease(const Job& job);
    void delete_lease(JobId id);

    void insert_event(const Event& event);
    void insert_line(const LogLine& line);

    void insert_request(const IdempotentRequest& request);  // fails if it exists
    void put_request(const IdempotentRequest& request);

    void insert_entity(const Entity& entity);  // fails if it exists
    void update_entity(const Entity& entity);
    void insert_entity_event(const EntityEvent& event);

    // Sends the gathered writes.
    void flush();

    bool has_written() const { return has_written_; }
    void note_written() { has_written_ = true; }

    // The largest number of a job, a lease or an entity that was written.
    std::int64_t largest_number() const { return largest_; }

  private:
    void touch(const EntityKey& key);
    void send(const Query& query, Columns& rows);
    void send(const Query& query, std::vector<JobId>& ids);

    Connection& connection_;
    std::unordered_set<JobId> touched_;
    std::set<EntityKey> touched_entities_;
    std::int64_t largest_ = 0;
    bool has_written_ = false;

    TableRows<tables::lane_table> lanes_;
    TableRows<tables::job_table> jobs_;
    TableRows<tables::ready_table> ready_;
    TableRows<tables::timed_table> timed_;
    TableRows<tables::blocker_table> blockers_;
    TableRows<tables::open_dependency_table> dependencies_;
    TableKeys<tables::open_dependency_table> left_dependencies_;
    TableKeys<tables::ready_table> left_ready_;
    TableKeys<tables::timed_table> left_timed_;
    TableKeys<tables::parked_table> left_parked_;
    std::vector<JobId> left_blockers_;
    std::vector<std::string> taken_;
    TableRows<tables::requeued_table> requeued_;
    std::vector<JobId> left_requeued_;
    TableRows<tables::done_table> done_;
    TableRows<tables::done_table> changed_done_;
    TableRows<tables::lease_table> leases_;
    TableChanges<tables::lease_table> changed_leases_;
    std::vector<JobId> left_leases_;
    TableRows<tables::event_table> events_;
    TableRows<tables::log_table> lines_;
    TableRows<tables::request_table> new_requests_;
    TableRows<tables::request_table> requests_;
    TableRows<tables::entity_table> entities_;
    TableChanges<tables::entity_table> changed_entities_;
    TableRows<tables::entity_event_table> entity_events_;
};

// The keys that a job holds while it runs, as ready and parked keep them; empty: none.
std::string keys_text(const JobSpec& spec);

}  // namespace sluice::postgres
