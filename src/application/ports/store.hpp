#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "application/ports/commands.hpp"
#include "application/ports/entity_store.hpp"
#include "application/ports/job_reader.hpp"
#include "application/ports/limit_store.hpp"
#include "application/ports/store_space.hpp"
#include "domain/jobs/lane.hpp"

namespace sluice {

// The store gave no answer: it is gone, full or broken. Thrown by infrastructure only. A write may
// or may not have happened; to send the same command again does no harm.
class StoreUnavailable : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A write does not fit on the store's disk; nothing of the session was kept.
class StoreFull : public StoreUnavailable {
  public:
    using StoreUnavailable::StoreUnavailable;
};

// The session lost against another one, or its connection broke before the commit: it has changed
// nothing, and another try will probably succeed. Thrown by stores that several committers share.
class StoreConflict : public StoreUnavailable {
  public:
    using StoreUnavailable::StoreUnavailable;
};

// Another session has locked entities that this one has asked for without having reserved them.
// They were not waited for, since two sessions that wait for entities in different orders could
// wait for each other. Another try succeeds when Subjects::entities has these keys, too.
class EntitiesBusy : public StoreConflict {
  public:
    explicit EntitiesBusy(std::vector<EntityKey> keys)
        : StoreConflict("another session has an entity that was not reserved"),
          keys_(std::move(keys)) {}

    const std::vector<EntityKey>& keys() const { return keys_; }

  private:
    std::vector<EntityKey> keys_;
};

// The same for jobs that depend on a job that ends: another session has locked them, and may wait
// for a job or an entity of this one. Another try succeeds when Subjects::jobs has these, too.
class JobsBusy : public StoreConflict {
  public:
    explicit JobsBusy(std::vector<JobId> jobs)
        : StoreConflict("another session has a job that was not reserved"),
          jobs_(std::move(jobs)) {}

    const std::vector<JobId>& jobs() const { return jobs_; }

  private:
    std::vector<JobId> jobs_;
};

// A job on its way into the queue.
struct Arrival {
    Job job;
    bool blocked = false;  // it depends on a job that has not ended
};

// How many jobs of a lane became claimable.
struct Readied {
    Lane lane;
    int count = 0;
};

// Writes jobs. Every sentence has a test in tests/contract/.
class JobStore {
  public:
    virtual ~JobStore() = default;

    // The jobs of these ids, in this order, as the session sees them; nothing where no job has the
    // id. Jobs that the session has reserved are at hand.
    virtual std::vector<std::optional<Job>> find(std::span<const JobId> ids) = 0;

    std::optional<Job> find_one(JobId id) { return std::move(find({&id, 1}).front()); }

    // Adds queued jobs. They become claimable when their run_after has come, unless they are
    // blocked.
    virtual void put(std::span<const Arrival> arrivals) = 0;

    // Puts running jobs back in the queue: their leases are closed, their keys are free, and they
    // become claimable when run_after has come.
    virtual void requeue(std::span<const Job> jobs) = 0;

    // Writes how queued or running jobs ended. A job that still carries a lease keeps it, and its
    // keys.
    virtual void finish(std::span<const Job> jobs) = 0;

    // The queued jobs that are blocked by one of these, each once, in order of their ids. One that
    // another session has locked is not waited for: JobsBusy.
    virtual std::vector<JobId> dependents(std::span<const JobId> ended) = 0;

    // Makes blocked jobs claimable when their run_after has come.
    virtual void unblock(std::span<const Job> jobs) = 0;
};

// When the lease ends after LeaseStore::give_back().
inline Timestamp later_end(const Lease& lease, Duration lost, Timestamp now) {
    return std::max(lease.until, std::min(lease.until + lost, now + lease.term));
}

// The ready queue and the leases of the jobs that were taken from it.
class LeaseStore {
  public:
    virtual ~LeaseStore() = default;

    // For each filter in turn, takes up to `limit` claimable jobs that it accepts out of the queue:
    // higher priority first, then older. A job is passed over while another one holds one of its
    // keys, or while a rule does not permit it. The keys of a taken job and the permits that its
    // lane needs are held from now on until its lease is closed; a start spends a token of each
    // rate.
    struct Wanted {
        const ClaimFilter* filter = nullptr;
        int limit = 1;
    };
    virtual std::vector<std::vector<Job>> take(std::span<const Wanted> wanted, Timestamp now) = 0;

    // Writes the leases of jobs that were just taken.
    virtual void open(std::span<const Job> jobs) = 0;

    // Writes the changes of a heartbeat or of log lines: the lease, progress, message and log
    // number.
    virtual void save(std::span<const Job> jobs) = 0;

    // Closes the leases of jobs that have ended, and frees their keys.
    virtual void close(std::span<const Job> jobs) = 0;

    // Every lease runs out that much later, but none later than one term from `now`: no heartbeat
    // could be stored for so long. Leases that another session has locked may be left out.
    virtual void give_back(Duration lost, Timestamp now) = 0;

    // No job that take() gave in this session ever had a lease with a larger token.
    virtual LeaseToken newest_token() { return {}; }

    // Leases that ran out at or before `now`, the earliest first, `limit` at the most.
    virtual std::vector<JobId> expired(Timestamp now, int limit) = 0;

    // Running jobs whose deadline has come and that were not asked to stop, the earliest first.
    virtual std::vector<JobId> overdue(Timestamp now, int limit) = 0;

    // The earliest moment at which a lease runs out, a deadline comes, or a queued job becomes
    // claimable. A shared store may name an earlier one, at which nothing is due.
    virtual Timestamp next_due() = 0;

    // The lanes whose jobs became claimable since the last call, by writes or because their time
    // has come.
    virtual std::vector<Readied> newly_ready(Timestamp now) = 0;

    // The job that holds each of these keys of the tenant, if any.
    virtual std::vector<std::optional<JobId>> holders(const std::string& tenant,
                                                      std::span<const std::string> keys) = 0;

    // How many jobs are queued, by lane.
    virtual Depths depths() = 0;
};

class HistoryStore {
  public:
    virtual ~HistoryStore() = default;

    // Appends; a job's events come in the order of their numbers. Events are never changed.
    virtual void append(std::span<const Event> events) = 0;
    virtual void append(std::span<const LogLine> lines) = 0;
};

struct IdempotencyKey {
    std::string tenant;
    std::string key;

    auto operator<=>(const IdempotencyKey&) const = default;
};

// The submit for which a client's Idempotency-Key was used.
struct IdempotentRequest {
    std::string tenant;
    std::string key;
    Digest body_digest{};
    std::vector<JobId> jobs{};
    Timestamp at{};

    bool operator==(const IdempotentRequest&) const = default;
};

class IdempotencyStore {
  public:
    virtual ~IdempotencyStore() = default;

    // The request that was put under this key of this tenant, if any. When this session puts one
    // and another session was faster, its commit is a StoreConflict.
    virtual std::optional<IdempotentRequest> find(const std::string& tenant,
                                                  const std::string& key) = 0;

    // Remembers the request, and replaces an earlier one with its key.
    virtual void put(const IdempotentRequest& request) = 0;

    // Forgets requests that were put before `time`, `limit` at the most; returns how many.
    virtual int forget_before(Timestamp time, int limit) = 0;
};

// The facts about an ended job that retention needs before it reads more.
struct EndedJob {
    JobId id;
    JobState state = JobState::succeeded;
    Timestamp completed_at{};
    std::int64_t rows = 0;  // events and log lines that it has
    bool is_rest = false;   // it was removed in part: only log lines of it are left

    bool operator==(const EndedJob&) const = default;
};

// A job with more events and log lines than this is removed in parts.
inline constexpr std::int64_t rows_at_once = 2000;

// Ended jobs, for their removal.
class ArchiveStore {
  public:
    virtual ~ArchiveStore() = default;

    // Jobs with ids above `after` and below `before` that have ended and have no lease, in the
    // order of their ids, `limit` at the most. A shared store may leave out jobs that another node
    // removes, or that it removes by itself.
    virtual std::vector<EndedJob> ended(JobId after, JobId before, int limit) = 0;

    // Those of these ended jobs that no open job depends on and no idempotency key refers to. No
    // other session makes them needed until this one ends; jobs that another session has locked are
    // left out.
    virtual std::vector<JobId> unneeded(std::span<const JobId> ids) = 0;

    // Removes these ended jobs with all that is only theirs: their events, log lines and
    // dependencies. References to them in other jobs and entities stay.
    virtual void remove(std::span<const JobId> ids) = 0;

    // The same for one job that has many log lines, in steps of rows_at_once lines: after the first
    // step the job is gone for every reader, and ended() names the rest of it. Returns whether
    // nothing is left. A store may remove all of it at once.
    virtual bool remove_part(JobId id) = 0;
};

// The jobs, keys and entities that a session is going to decide on.
struct Subjects {
    std::vector<JobId> leased{};  // of messages of workers
    std::vector<JobId> jobs{};    // of requests of clients, queued or not
    std::vector<IdempotencyKey> keys{};
    std::vector<EntityKey> entities{};  // in any order; they need not exist
    // Those of the jobs above that may end, and a function that adds the entities that move with
    // one: called once they are reserved, so that their entities are reserved together with the
    // others.
    std::vector<JobId> ending{};
    std::function<void(const JobSpec&, std::vector<EntityKey>&)> entities_of{};
};

// One open transaction. Destroyed without commit(), it leaves the store as it was.
class Session {
  public:
    virtual ~Session() = default;

    // Keeps other sessions from changing these until this one ends. Called at most once, before
    // anything else. A store that has one session at a time need not do anything. A shared one
    // waits for other sessions here: for jobs, then for idempotency keys, then for all entities in
    // the order of their keys. After this no call waits for a job or an entity.
    virtual void reserve(const Subjects&) {}

    // Reads committed rows and the writes of this session. It locks nothing.
    virtual JobReader& reader() = 0;

    virtual JobStore& jobs() = 0;
    virtual LeaseStore& leases() = 0;
    virtual HistoryStore& history() = 0;
    virtual IdempotencyStore& idempotency() = 0;
    virtual EntityStore& entities() = 0;
    virtual ArchiveStore& archive() = 0;
    virtual LimitStore& limits() = 0;

    // When this returns, everything that was written is on disk and visible to readers.
    virtual void commit() = 0;

    // After the commit: lanes with jobs that may be claimed now, because of permits that this
    // session has given back or of rules that it has read, and that newly_ready() has not told.
    virtual std::vector<Readied> reopened() { return {}; }
};

// Keeps jobs and entities. When several committers share a database, each has a Store of its own.
class Store {
  public:
    virtual ~Store() = default;

    // Opens the one writing transaction. Called by one thread, one session at a time.
    virtual std::unique_ptr<Session> begin() = 0;

    // A reader for the calling thread. Any number may be open beside each other and beside a
    // session.
    virtual std::unique_ptr<JobReader> reader() = 0;

    // The largest number that was ever given to a job, a lease or an entity by this store's user.
    virtual std::int64_t last_id() = 0;

    // How much space there is for the session that was begun last.
    virtual StoreSpace space() const { return StoreSpace::ample; }

    // Called after StoreFull, when no session is open: gives up the reserve. True: another try will
    // probably succeed.
    virtual bool release_reserve() { return false; }

    // The number of this user of a shared store, from 0 to 1023, which no other one has, for the
    // ids that it gives. Nothing when the store is not shared.
    virtual std::optional<int> seat() const { return std::nullopt; }
};

}  // namespace sluice
