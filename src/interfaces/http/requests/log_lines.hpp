#pragma once

#include <string>

#include "domain/jobs/history.hpp"
#include "json/json_writer.hpp"

// The form of log lines for contracts that have none of their own.
namespace sluice::http {

void write_log_line(JsonWriter& json, const LogLine& line);
std::string log_line_text(const LogLine& line);

}  // namespace sluice::http
