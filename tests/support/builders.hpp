#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "application/ports/store.hpp"

// Values for tests. Each has the fields that the engine would set, so that a test names only those
// that it is about.
namespace sluice {

// Seconds after the time at which the tests begin.
Timestamp at(int seconds);

// A spec that is due when it is created, at at(0). The engine gives ids; stores get them here.
JobSpec spec(std::string type = "work");
JobSpec spec(std::int64_t id, std::string type = "work");

// A spec in which every field is set, to something that is hard to store: quotes, controls, UTF-8,
// numbers at the ends of their ranges. It depends on `dependency`, and is blocked if that has not
// ended.
JobSpec unusual_spec(std::int64_t id, JobId dependency);

// The job at the points of its life, with an event for each in its head.
Job queued(JobSpec spec);
struct Claim {
    std::int64_t token = 1000;
    std::string worker_id = "worker-1";
    Timestamp now = at(0);
    Duration term = std::chrono::seconds(30);
};
Job running(Job job, const Claim& claim);
Job requeued(Job job, Timestamp run_after);
Job ended(Job job, JobState state, Timestamp now);
// Ended while a worker still runs it: it keeps its lease, and the worker is asked to stop.
Job ended_under_worker(Job job, JobState state, Timestamp now);

// The `seq`th event and log line of a job.
Event event(std::int64_t job, std::int64_t seq);
LogLine log_line(std::int64_t job, std::int64_t seq);

// Text that breaks careless quoting, and text that is not ASCII.
extern const std::string unusual_text;

// A hash that differs for each seed.
Digest digest(int seed);

std::vector<JobId> ids_of(const std::vector<Job>& jobs);

// How failures print them.
void PrintTo(JobId id, std::ostream* out);
void PrintTo(const Job& job, std::ostream* out);

}  // namespace sluice
