#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/history.hpp"
#include "domain/job.hpp"
#include "infrastructure/sqlite/statement.hpp"

// How jobs, events and log lines look as rows. The order of values here is the order of the columns
// in queries.hpp.
namespace sluice::sqlite {

// Lists of strings as netstrings ("3:abc2:de"), since the strings may contain anything.
std::string join_texts(const std::vector<std::string>& texts);
void split_texts(std::string_view joined, std::vector<std::string>& texts);

std::string join_ids(const std::vector<JobId>& ids);
std::vector<JobId> split_ids(std::string_view joined);

std::string backoff_text(const Backoff& backoff);
Backoff parse_backoff(std::string_view text);

// Whether the job may have a row in requeued: it stands otherwise than its row in job tells.
// `events` is how many it would have by now if it had only been submitted before.
bool may_be_requeued(const Job& job, std::int64_t events);

// A job's lists as they are stored, which a statement refers to while it is run.
struct JobTexts {
    explicit JobTexts(const JobSpec& spec);

    std::string labels;
    std::string exclusive_keys;
    std::string backoff;
};

// Bind a row to the placeholders after the first `place` ones.
void bind_job(Statement& insert, int place, const Job& job, const JobTexts& texts);
void bind_requeued(Statement& insert, int place, const Job& job);
void bind_lease(Statement& insert, int place, const Job& job);
void bind_done(Statement& insert, int place, const Job& job);
void bind_event(Statement& insert, int place, const Event& event);
void bind_line(Statement& insert, int place, const LogLine& line);

// What a heartbeat, log lines or an end under a worker change, by id and token.
void update_lease(Statement& update, const Job& job);
// What is left to know of a job whose lease outlived it, once that is closed.
void update_done(Statement& update, const Job& job);

// Reads the columns of sql::spec_columns. Dependencies are in a table of their own: the number of
// them is returned, and they are left out.
int read_spec(Row& row, JobSpec& spec, Digest& first_hash);

// Reads the columns that the ready queue needs, the first of sql::spec_columns, into a spec whose
// other fields are left alone. Returns the number of dependencies.
int read_queue_spec(Row& row, JobSpec& spec);

// Read the columns of their tables into a job whose spec is known, in this order. Nothing is
// changed where there is no such row.
void read_requeued(Row& row, Job& job);
void read_done(Row& row, Job& job);
void read_lease(Row& row, Job& job);

Event read_event(Row& row, JobId job);
LogLine read_line(Row& row, JobId job);

}  // namespace sluice::sqlite
