#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "application/ports/store.hpp"
#include "infrastructure/memory/entity_records.hpp"
#include "infrastructure/memory/source_records.hpp"
#include "infrastructure/queue/lease_clock.hpp"
#include "infrastructure/queue/ready_queue.hpp"

namespace sluice {

// Everything that a MemoryStore holds. The queue, the clock and `readied` follow from the rest, so
// a rollback restores the rest and rebuilds them.
struct MemoryRecords {
    struct Row {
        Job job;
        bool blocked = false;
    };

    std::map<JobId, Row> jobs;
    std::unordered_map<JobId, std::vector<Event>> events;
    std::unordered_map<JobId, std::vector<LogLine>> logs;
    std::map<std::pair<std::string, std::string>, IdempotentRequest> requests;  // by tenant and key
    EntityRecords entities;
    SourceRecords sources;
    std::shared_ptr<const LimitRules> rules = LimitRules::none();
    std::int64_t last_id = 0;
    bool is_shared = false;

    ReadyQueue queue;
    LeaseClock clock;
    std::map<Lane, int> readied;            // became claimable and was not told yet
    Timestamp seen_now = Timestamp::min();  // up to when timed jobs entered the queue

    std::vector<std::optional<Job>> find(std::span<const JobId> ids) const;
    std::vector<Job> list(const JobFilter& filter, JobId before, ListLimit limit) const;
    std::vector<Job> page(const JobFilter& filter, std::int64_t offset, int limit) const;
    std::int64_t count(const JobFilter& filter) const;
    std::vector<Event> events_after(JobId job, std::int64_t after, int limit) const;
    std::vector<LogLine> logs_after(JobId job, std::int64_t after, int limit) const;
    std::vector<JobId> ids_after(JobId after, int limit) const;

    // Moves the queue's counts of newly ready jobs to `readied`.
    void gather_readied(Timestamp now);

    // Watches the job's lease and deadline as they are now, or stops watching.
    void watch(const Job& job);

    // The leases by lane, counted from the jobs.
    std::map<Lane, std::int64_t> leases() const;

    // Rebuilds the queue and the clock from the jobs and the rules. The buckets of meters become
    // what they were at the last commit.
    void rebuild();
};

}  // namespace sluice
