#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "infrastructure/postgres/cluster.hpp"
#include "infrastructure/postgres/job_queries.hpp"
#include "infrastructure/postgres/writes.hpp"

namespace sluice::postgres {

// How many jobs of which lanes became claimable.
using ReadyCounts = std::map<LaneId, int>;

// One open transaction: what its ports share. Jobs whose row locks it holds are at hand until they
// are asked for, or have been written otherwise; all others are read, since others may change them.
class Work {
  public:
    Work(Connection& opened, Cluster& shared, ReadyCounts said_before, Timestamp seen_before)
        : connection(opened),
          cluster(shared),
          writes(opened),
          readied(std::move(said_before)),
          seen(seen_before) {}

    Connection& connection;
    Cluster& cluster;
    Writes writes;
    ReadyCounts readied;  // what newly_ready() has to tell
    Timestamp seen;       // the latest moment that was named: what was due then is due

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

    // These, in this order. What was at hand is handed over.
    std::vector<std::optional<Job>> find(std::span<const JobId> ids);

    // Locks the leases of these, and has those jobs at hand that are leased and have not ended.
    // Returns those that have ended under a lease. Sent by the first, fetched by the second.
    struct LeaseLocks {
        std::vector<JobId> ids{};  // sorted
        std::vector<std::optional<SharedSpec>> specs{};
        Connection::Ticket leases{};
        std::optional<Connection::Ticket> unknown_specs{};
    };
    LeaseLocks post_lock_leased(std::vector<JobId> sorted);
    std::vector<JobId> take_leased(LeaseLocks locks);
    // Jobs that this session puts; claims find them after its commit.
    std::vector<SubmittedJob> submitted;
    // These jobs as they were submitted; those that are not at hand are read.
    SubmittedJobs complete(std::span<const JobId> ids,
                           std::vector<std::optional<SubmittedJob>> at_hand);

    // Reads jobs that are locked, to have them at hand. Returns the specs of those that are queued.
    std::vector<SharedSpec> read_locked(const std::vector<JobId>& ids);

    // ── lanes ──
    // The lane's id; a lane that is new is written first.
    LaneId lane_of_job(const JobSpec& spec);
    Lane lane(LaneId id) const;
    std::vector<LaneId> matching_lanes(const ClaimFilter& filter) const;  // sorted
    bool learn_new_lanes();  // those that others have made; false: there were none
    void know(LaneId id);    // a lane that another node may have made
    void lanes_committed();

    // ── the queue ──
    // Puts a job where it can be claimed, now or when its run_after has come.
    void enqueue(const Job& job);
    void ready(LaneId lane, int count) { readied[lane] += count; }
    void readied_by_others(LaneId lane, int count);

    // What this session knows of the next moments to look.
    Timestamp lease_due = never;
    Timestamp timed_due = never;

    std::vector<JobId> ended;  // nobody works on them any more

    // ── keys ──
    // What claims of this session have taken and nobody has freed since: tenant and key.
    std::set<std::pair<std::string, std::string>> taken_keys;
    std::vector<JobId> freed_jobs;  // their leases are closed, and they have keys
    void free_keys_of(const Job& job);
    // Keys that may be free now, with somebody waiting at them.
    void may_be_free(const std::string& tenant, const std::string& key);
    // This session has the row of a queued job that may be parked at one of its keys: whoever frees
    // it meanwhile passes over the job, so that this session promotes what waits there.
    void look_after_keys_of(const JobSpec& spec);
    // Frees the keys of the jobs above and lets those be claimed that waited for them.
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
