#pragma once

#include <mutex>

#include "infrastructure/memory/memory_records.hpp"

namespace sluice {

// Locks nothing where there is no mutex.
inline std::unique_lock<std::mutex> hold(std::mutex* mutex) {
    return mutex != nullptr ? std::unique_lock(*mutex) : std::unique_lock<std::mutex>();
}

// The readers of a MemoryStore. They lock its mutex during each call; those of a session have none,
// since the session has locked it.
class MemoryEntityReader final : public EntityReader {
  public:
    MemoryEntityReader(std::mutex* mutex, const EntityRecords& records)
        : mutex_(mutex), records_(records) {}

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override {
        const auto lock = hold(mutex_);
        return records_.find(keys);
    }
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit) override {
        const auto lock = hold(mutex_);
        return records_.list(filter, before, offset, limit);
    }
    std::int64_t count(const EntityFilter& filter) override {
        const auto lock = hold(mutex_);
        return records_.count(filter);
    }
    std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after, int limit) override {
        const auto lock = hold(mutex_);
        return records_.events_after(key, after, limit);
    }

  private:
    std::mutex* mutex_;
    const EntityRecords& records_;
};

class MemoryLimitReader final : public LimitReader {
  public:
    MemoryLimitReader(std::mutex* mutex, const MemoryRecords& records)
        : mutex_(mutex), records_(records) {}

    std::shared_ptr<const LimitRules> limit_rules() override {
        const auto lock = hold(mutex_);
        return records_.rules;
    }
    std::vector<MeterState> meters(std::span<const MeterId> ids) override {
        const auto lock = hold(mutex_);
        return records_.queue.permits().meters_of(ids);
    }

  private:
    std::mutex* mutex_;
    const MemoryRecords& records_;
};

class MemoryReader final : public JobReader {
  public:
    MemoryReader(std::mutex* mutex, const MemoryRecords& records)
        : mutex_(mutex),
          records_(records),
          entities_(mutex, records.entities),
          limits_(mutex, records) {}

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override {
        const auto lock = hold(mutex_);
        return records_.find(ids);
    }
    std::vector<Job> list(const JobFilter& filter, JobId before, ListLimit limit) override {
        const auto lock = hold(mutex_);
        return records_.list(filter, before, limit);
    }
    std::vector<Job> page(const JobFilter& filter, std::int64_t offset, int limit) override {
        const auto lock = hold(mutex_);
        return records_.page(filter, offset, limit);
    }
    std::int64_t count(const JobFilter& filter) override {
        const auto lock = hold(mutex_);
        return records_.count(filter);
    }
    std::vector<Event> events(JobId job, std::int64_t after, int limit) override {
        const auto lock = hold(mutex_);
        return records_.events_after(job, after, limit);
    }
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) override {
        const auto lock = hold(mutex_);
        return records_.logs_after(job, after, limit);
    }
    std::vector<JobId> ids_after(JobId after, int limit) override {
        const auto lock = hold(mutex_);
        return records_.ids_after(after, limit);
    }
    EntityReader& entities() override { return entities_; }
    LimitReader& limits() override { return limits_; }

  private:
    std::mutex* mutex_;
    const MemoryRecords& records_;
    MemoryEntityReader entities_;
    MemoryLimitReader limits_;
};

}  // namespace sluice
