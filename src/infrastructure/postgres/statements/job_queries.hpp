#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "application/ports/job_reader.hpp"
#include "infrastructure/postgres/connection/connection.hpp"

// The reading half of the store, shared by readers and writing sessions. See JobReader for what
// each function returns. They wait for their answers; the caller ends the transaction, open or
// implicit, in which they read.
namespace sluice::postgres {

// Reads the columns of tables::job_table: the job as it was when it was put.
Job read_submitted(Row& row);

// One statement, and so one moment.
std::vector<std::optional<Job>> find_jobs(Connection& connection, std::span<const JobId> ids);

// The jobs that exist, as they were submitted, with their damage; sent by the first, fetched by the
// second.
Connection::Ticket post_find_specs(Connection& connection, std::span<const JobId> ids);
using SubmittedJobs = std::unordered_map<JobId, Job>;
SubmittedJobs take_specs(Connection& connection, Connection::Ticket ticket);

// A job as its submit left it; `first` is the hash of its first event.
Job as_submitted(SharedSpec spec, const Digest& first);

// Several statements each: they see one moment only in a snapshot.
std::vector<Job> list_jobs(Connection& connection, const JobFilter& filter, JobId before,
                           ListLimit limit);
std::vector<std::optional<Job>> find_newest(Connection& connection,
                                            std::span<const JobFilter> filters);
std::vector<Job> page_of_jobs(Connection& connection, const JobFilter& filter, std::int64_t offset,
                              int limit);
std::int64_t count_jobs(Connection& connection, const JobFilter& filter);

std::vector<Event> list_events(Connection& connection, JobId job, std::int64_t after, int limit);
std::vector<std::vector<Event>> list_events(Connection& connection,
                                            std::span<const JobReader::EventsAfter> wanted,
                                            int limit);
std::vector<LogLine> list_lines(Connection& connection, JobId job, std::int64_t after, int limit);
Depths count_depths(Connection& connection);
std::vector<JobId> list_ids_after(Connection& connection, JobId after, int limit);

}  // namespace sluice::postgres
