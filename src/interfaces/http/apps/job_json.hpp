#pragma once

#include <string_view>
#include <vector>

#include "application/secrets/secret_marks.hpp"
#include "domain/jobs/history.hpp"
#include "domain/jobs/job.hpp"
#include "json/json_writer.hpp"

// The form in which this contract shows jobs and their log lines.
namespace sluice::http::apps {

// Secrets in the payload are not shown.
void write_job(JsonWriter& json, const Job& job, const SecretMarks& secrets);
void write_log_line(JsonWriter& json, const LogLine& line);

// The states that this contract shows by this name; none when it is not a state of this contract.
std::vector<JobState> states_shown_as(std::string_view name);

// Whether this is one of this contract's job types.
bool is_job_type(std::string_view type);

}  // namespace sluice::http::apps
