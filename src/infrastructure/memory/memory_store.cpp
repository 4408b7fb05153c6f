#include "infrastructure/memory/memory_store.hpp"

#include "infrastructure/memory/memory_session.hpp"

namespace sluice {
namespace {

class MemoryReader : public JobReader {
  public:
    MemoryReader(std::mutex& mutex, const MemoryRecords& records)
        : mutex_(mutex), records_(records) {}

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) override {
        const std::lock_guard lock(mutex_);
        return records_.find(ids);
    }
    std::vector<Job> list(const JobFilter& filter, JobId before, int limit) override {
        const std::lock_guard lock(mutex_);
        return records_.list(filter, before, limit);
    }
    std::vector<Event> events(JobId job, std::int64_t after, int limit) override {
        const std::lock_guard lock(mutex_);
        return records_.events_after(job, after, limit);
    }
    std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) override {
        const std::lock_guard lock(mutex_);
        return records_.logs_after(job, after, limit);
    }
    std::vector<JobId> ids_after(JobId after, int limit) override {
        const std::lock_guard lock(mutex_);
        return records_.ids_after(after, limit);
    }

  private:
    std::mutex& mutex_;
    const MemoryRecords& records_;
};

}  // namespace

std::unique_ptr<Session> MemoryStore::begin() {
    return std::make_unique<MemorySession>(std::unique_lock(mutex_), records_);
}

std::unique_ptr<JobReader> MemoryStore::reader() {
    return std::make_unique<MemoryReader>(mutex_, records_);
}

std::int64_t MemoryStore::last_id() {
    const std::lock_guard lock(mutex_);
    return records_.last_id;
}

}  // namespace sluice
