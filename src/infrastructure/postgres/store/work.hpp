#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "infrastructure/postgres/cluster/cluster.hpp"
#include "infrastructure/postgres/permits/session_permits.hpp"
#include "infrastructure/postgres/statements/job_queries.hpp"
#include "infrastructure/postgres/statements/writes.hpp"

namespace sluice::postgres {

// How many jobs of which lanes became claimable.
using ReadyCounts = std::map<LaneId, int>;

// One open transaction: the state that its ports share. Jobs whose rows it has locked are kept at
// hand until they are asked for or written; all others are read each time, since other sessions may
// change them.
class Work {
  public:
    Work(Connection& opened, Cluster& shared, int seat, ReadyCounts said_before,
         Timestamp seen_before)
        : connection(opened),
          cluster(shared),
          writes(opened),
          permits(opened, shared, writes, seat),
          readied(std::move(said_before)),
          seen(seen_before) {}

    Connection& connection;
    Cluster& cluster;
    Writes writes;
    SessionPermits permits;
    ReadyCounts readied;  // for newly_ready()
    Timestamp seen;       // the latest time that a call has named: jobs due then are due

    // ── jobs at hand ──
    void keep(Job job);
    // The job was written: it is read when it is asked for again.
    void let_go(const Job& written);
    // The lease of a locked job, as far as it is known: nothing when the job is not locked.
    struct LeaseNote {
        std::optional<LeaseToken> token{};  // none: the job has no lease
    };
    std::optional<LeaseNote> lease_of(JobId id) const;

    // The job if it is at hand; it stays so.
    const Job* at_hand(JobId id) const;

    // These jobs, in this order. A job at hand is handed over.
    std::vector<std::optional<Job>> find(std::span<const JobId> ids);

    // Locks the leases of these jobs, and has those at hand that are leased and have not ended.
    // Returns those that have ended under a lease. Sent by the first, fetched by the second.
    struct LeaseLocks {
        std::vector<JobId> ids{};  // sorted
        std::vector<std::optional<SharedSpec>> specs{};
        Connection::Ticket leases{};
        std::optional<Connection::Ticket> unknown_specs{};
    };
    LeaseLocks post_lock_leased(std::vector<JobId> sorted);
    std::vector<JobId> take_leased(LeaseLocks locks);
    // Jobs that this session puts; claims find them here after its commit.
    std::vector<SubmittedJob> submitted;
    // These jobs as they were submitted; those that are not at hand are read.
    SubmittedJobs complete(std::span<const JobId> ids,
                           std::vector<std::optional<SubmittedJob>> at_hand);

    // Reads locked jobs, to have them at hand. Returns the specs of those that are queued.
    std::vector<SharedSpec> read_locked(const std::vector<JobId>& ids);

    // ── lanes ──

    // The lane's id; a new lane is written first.
    LaneId lane_of_job(const JobSpec& spec);
    Lane lane(LaneId id) const;
    std::vector<LaneId> matching_lanes(const ClaimFilter& filter) const;  // sorted
    bool learn_new_lanes();  // those of other nodes; false: there were none
    void know(LaneId id);    // a lane that another node may have made
    void lanes_committed();

    // ── the queue ──

    // Puts a job where it can be claimed, now or when its run_after has come.
    void enqueue(const Job& job);
    void ready(LaneId lane, int count) { readied[lane] += count; }
    void readied_by_others(LaneId lane, int count);

    // The next moments to look for due work, as far as this session knows them.
    Timestamp lease_due = never;
    Timestamp timed_due = never;

    CountedSources counted;    // of sources, by this session
    std::vector<JobId> ended;  // and no worker has them any more

    // ── keys ──

    // Keys that claims of this session have taken and that were not freed since: tenant and key.
    std::set<std::pair<std::string, std::string>> taken_keys;
    std::vector<JobId> freed_jobs;  // their leases are closed, and they have keys
    void free_keys_of(const Job& job);
    // A key that may be free now while jobs are parked at it.
    void may_be_free(const std::string& tenant, const std::string& key);
    // This session has locked the row of a queued job that may be parked at one of its keys: a
    // session that frees the key meanwhile passes over the job, so this session promotes the parked
    // jobs.
    void look_after_keys_of(const JobSpec& spec);
    // Frees the keys of the jobs above and promotes the jobs that are parked at them.
    void settle_keys();

  private:
    void lock_looked_after();

    struct Locked {
        std::optional<Job> job{};
        LeaseNote lease{};
    };
    std::unordered_map<JobId, Locked> locked_;
    std::map<LaneId, Lane> new_lanes_;
    std::optional<std::pair<Lane, LaneId>> last_lane_;  // jobs of one lane often come together
    std::vector<std::pair<std::string, std::string>> free_keys_;  // tenant and key
    std::set<std::pair<std::string, std::string>> looked_after_;  // the same
};

}  // namespace sluice::postgres
