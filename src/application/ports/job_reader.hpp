#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "application/ports/commands.hpp"
#include "application/ports/entity_store.hpp"
#include "application/ports/limit_store.hpp"
#include "domain/jobs/history.hpp"
#include "domain/jobs/job.hpp"

namespace sluice {

// Which jobs a list shows. An empty string or an empty list does not narrow it.
struct JobFilter {
    std::string tenant = "default";
    std::vector<JobState> states{};
    std::string type{};
    std::string queue{};
    std::string project{};
    std::string entity_type{};
    std::string entity_id{};
    std::string site_id{};
    std::string node_id{};
    std::string correlation_id{};
    std::string source{};
    std::string worker_id{};  // that runs it now
    std::string label{};
    std::optional<Timestamp> created_from{};
    std::optional<Timestamp> created_before{};
    std::optional<JobId> replay_of{};
    JobId from{};  // older ids are not shown

    // Whether the job is one of those that the list shows.
    bool accepts(const Job& job) const;
};

// How much a list shows at the most. A plain number of jobs converts to a limit.
struct ListLimit {
    ListLimit(int jobs_max, std::size_t bytes_max = SIZE_MAX) : jobs(jobs_max), bytes(bytes_max) {}

    int jobs;
    std::size_t bytes;  // of text_bytes(): the list ends with the job that reaches them
};

// The size of those texts of a job that may be long.
std::size_t text_bytes(const Job& job);

// Counts the jobs of a list against its limit.
class ListCount {
  public:
    explicit ListCount(ListLimit limit) : limit_(limit) {}

    void add(const Job& job) {
        ++jobs_;
        bytes_ += text_bytes(job);
    }

    // Whether the list ends here, so that more jobs may follow.
    bool is_full() const { return jobs_ >= limit_.jobs || bytes_ >= limit_.bytes; }

  private:
    ListLimit limit_;
    int jobs_ = 0;
    std::size_t bytes_ = 0;
};

// Reads jobs, their events and log lines. Each sentence below has a test in tests/contract/, which
// every store must pass. Throws StoreUnavailable when the store cannot answer.
//
//   Committed: a reader sees all that was committed before its call, and nothing else.
//   Whole: one call sees one moment; a job never shows half of a change.
class JobReader {
  public:
    virtual ~JobReader() = default;

    // The jobs of these ids, in this order; nothing where no job has the id.
    virtual std::vector<std::optional<Job>> find(std::span<const JobId> ids) = 0;

    // Jobs that the filter accepts with ids below `before`, newest first, `limit` at the most. A
    // limit of bytes ends a list after a job, never before the first one.
    virtual std::vector<Job> list(const JobFilter& filter, JobId before, ListLimit limit) = 0;

    // The newest job that each of these filters accepts, if any: read together, in one call.
    virtual std::vector<std::optional<Job>> newest_of(std::span<const JobFilter> filters);

    // The jobs of list() from the newest on, without the first `offset` of them.
    virtual std::vector<Job> page(const JobFilter& filter, std::int64_t offset, int limit) = 0;

    // How many jobs the filter accepts.
    virtual std::int64_t count(const JobFilter& filter) = 0;

    // The job's events with numbers above `after`, in order, `limit` at the most.
    virtual std::vector<Event> events(JobId job, std::int64_t after, int limit) = 0;

    // The same for several jobs, `limit` for each: in one call.
    struct EventsAfter {
        JobId job{};
        std::int64_t after = 0;
    };
    virtual std::vector<std::vector<Event>> events_of(std::span<const EventsAfter> wanted,
                                                      int limit);

    // The job's log lines with numbers above `after`, in order, `limit` at the most.
    virtual std::vector<LogLine> logs(JobId job, std::int64_t after, int limit) = 0;

    // Ids above `after` in order, `limit` at the most, of every tenant: for walking the whole
    // store.
    virtual std::vector<JobId> ids_after(JobId after, int limit) = 0;

    // How many jobs are queued, by lane; nothing where only the writing session knows.
    virtual std::optional<Depths> depths() { return std::nullopt; }

    // The entities of the jobs, as this reader sees them.
    virtual EntityReader& entities() = 0;

    // The rules about which jobs may run now, as this reader sees them.
    virtual LimitReader& limits() = 0;

    std::optional<Job> find_one(JobId id) { return std::move(find({&id, 1}).front()); }
};

inline constexpr JobId newest{INT64_MAX};  // as `before`: start a list at its newest job

}  // namespace sluice
