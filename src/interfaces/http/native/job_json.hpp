#pragma once

#include "application/commands.hpp"
#include "application/secret_marks.hpp"
#include "json/json_writer.hpp"

// How the native API shows things.
namespace sluice::http::native {

// What is secret in the payload is not shown.
void write_job(JsonWriter& json, const Job& job, const SecretMarks& secrets);
std::string job_text(const Job& job, const SecretMarks& secrets);

void write_event(JsonWriter& json, const Event& event);
void write_log_line(JsonWriter& json, const LogLine& line);
std::string log_line_text(const LogLine& line);
std::string explanation_text(const Explanation& explanation);

}  // namespace sluice::http::native
