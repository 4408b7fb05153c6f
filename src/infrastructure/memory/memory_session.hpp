#pragma once

#include <functional>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "application/ports/store.hpp"
#include "infrastructure/memory/memory_reader.hpp"
#include "infrastructure/memory/memory_records.hpp"

namespace sluice {

// The writes of a session's parts: changes of the records, each with its undo.
class MemoryWork {
  public:
    explicit MemoryWork(MemoryRecords& all);

    // The row of an existing job, to be changed.
    MemoryRecords::Row& change(JobId id);
    void add_job(const Arrival& arrival);
    // Writes everything of the job but its spec, which never changes.
    static void write(Job& stored, const Job& job);
    void use_number(std::int64_t number);
    void can_undo(std::function<void()> step) { undo_.push_back(std::move(step)); }
    void roll_back();

    MemoryRecords& records;
    std::unordered_set<JobId> taken{};  // their leases are not written yet
    bool asked_queue = false;           // that may have changed it, even if it gave no job

  private:
    std::vector<std::function<void()>> undo_;
    std::map<Lane, int> readied_before_;
    Timestamp seen_now_before_;
};

class MemoryEntities : public EntityStore {
  public:
    explicit MemoryEntities(MemoryWork& work) : work_(work) {}

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
    void put(std::span<const Entity> entities) override;
    void append(std::span<const EntityEvent> events) override;

  private:
    void add(const Entity& entity);
    void write(Entity& stored, const Entity& entity);

    MemoryWork& work_;
};

class MemoryJobs : public JobStore {
  public:
    explicit MemoryJobs(MemoryWork& work) : work_(work) {}

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override;
    void put(std::span<const Arrival> arrivals) override;
    void requeue(std::span<const Job> jobs) override;
    void finish(std::span<const Job> jobs) override;
    std::vector<JobId> dependents(std::span<const JobId> ended) override;
    void unblock(std::span<const Job> jobs) override;

  private:
    MemoryWork& work_;
};

class MemoryLeases : public LeaseStore {
  public:
    explicit MemoryLeases(MemoryWork& work) : work_(work) {}

    std::vector<std::vector<Job>> take(std::span<const Wanted> wanted, Timestamp now) override;
    void open(std::span<const Job> jobs) override;
    void save(std::span<const Job> jobs) override;
    void close(std::span<const Job> jobs) override;
    void give_back(Duration lost, Timestamp now) override;
    LeaseToken newest_token() override;
    std::vector<JobId> expired(Timestamp now, int limit) override;
    std::vector<JobId> overdue(Timestamp now, int limit) override;
    Timestamp next_due() override;
    std::vector<Readied> newly_ready(Timestamp now) override;
    std::vector<std::optional<JobId>> holders(const std::string& tenant,
                                              std::span<const std::string> keys) override;
    std::vector<Depth> depths() override;

  private:
    MemoryWork& work_;
};

class MemoryHistory : public HistoryStore {
  public:
    explicit MemoryHistory(MemoryWork& work) : work_(work) {}

    void append(std::span<const Event> events) override;
    void append(std::span<const LogLine> lines) override;

  private:
    MemoryWork& work_;
};

class MemoryIdempotency : public IdempotencyStore {
  public:
    explicit MemoryIdempotency(MemoryWork& work) : work_(work) {}

    std::optional<IdempotentRequest> find(const std::string& tenant,
                                          const std::string& key) override;
    void put(const IdempotentRequest& request) override;
    int forget_before(Timestamp time, int limit) override;

  private:
    MemoryWork& work_;
};

class MemoryArchive : public ArchiveStore {
  public:
    explicit MemoryArchive(MemoryWork& work) : work_(work) {}

    std::vector<EndedJob> ended(JobId after, JobId before, int limit) override;
    std::vector<JobId> unneeded(std::span<const JobId> ids) override;
    void remove(std::span<const JobId> ids) override;
    bool remove_part(JobId id) override;

  private:
    MemoryWork& work_;
};

class MemoryLimits : public LimitStore {
  public:
    explicit MemoryLimits(MemoryWork& work) : work_(work) {}

    std::shared_ptr<const LimitRules> limit_rules() override { return work_.records.rules; }
    std::vector<MeterState> meters(std::span<const MeterId> ids) override;
    void rules_written(Timestamp now) override;
    std::vector<LaneNow> lanes(std::int64_t ready_max) override;
    std::vector<MeterDifference> check_meters(bool repair) override;
    void count_sources(std::span<const SourceCount> counts, Timestamp now) override;
    std::vector<SourceCount> sources(const std::string& tenant, Timestamp now) override;
    bool knows_source(const std::string& tenant, const std::string& source) override;
    std::int64_t count_of_sources(const std::string& tenant) override;
    int forget_sources(Timestamp now, int limit) override;

  private:
    MemoryWork& work_;
};

// A MemoryStore's session: it holds the store's lock until it is committed or gone. Its parts must
// not be used after the commit.
class MemorySession : public Session {
  public:
    MemorySession(std::unique_lock<std::mutex> lock, MemoryRecords& records);
    ~MemorySession() override;

    JobReader& reader() override;
    JobStore& jobs() override;
    LeaseStore& leases() override;
    HistoryStore& history() override;
    IdempotencyStore& idempotency() override;
    EntityStore& entities() override;
    ArchiveStore& archive() override;
    LimitStore& limits() override;
    void commit() override;

  private:
    std::unique_lock<std::mutex> lock_;
    MemoryWork work_;
    MemoryReader reader_{nullptr, work_.records};
    MemoryEntities entities_{work_};
    MemoryJobs jobs_{work_};
    MemoryLeases leases_{work_};
    MemoryHistory history_{work_};
    MemoryIdempotency idempotency_{work_};
    MemoryArchive archive_{work_};
    MemoryLimits limits_{work_};
};

}  // namespace sluice
