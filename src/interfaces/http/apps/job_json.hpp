#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "application/secret_marks.hpp"
#include "domain/history.hpp"
#include "domain/job.hpp"
#include "json/json_writer.hpp"

// How this contract shows jobs and their log lines.
namespace sluice::http::apps {

// What is secret in the payload is not shown.
void write_job(JsonWriter& json, const Job& job, const SecretMarks& secrets);
void write_log_line(JsonWriter& json, const LogLine& line);

// The states that are shown by this word; none when it is not a state of this contract.
std::vector<JobState> states_shown_as(std::string_view word);

// Whether the word is one of this contract's job types.
bool is_job_type(std::string_view word);

}  // namespace sluice::http::apps
