#include "interfaces/http/requests/log_lines.hpp"

namespace sluice::http {

void write_log_line(JsonWriter& json, const LogLine& line) {
    json.begin_object();
    json.field("seq", line.seq);
    json.field("attempt", line.attempt);
    json.field("level", to_text(line.level));
    json.field("message", line.message);
    json.raw_field("data", line.data.empty() ? "null" : line.data);
    json.field("timestamp", line.at);
    if (line.damaged) json.field("damaged", true);
    json.end_object();
}

std::string log_line_text(const LogLine& line) {
    return json_text([&](JsonWriter& json) { write_log_line(json, line); });
}

}  // namespace sluice::http
