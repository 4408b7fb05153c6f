#pragma once

#include <string>
#include <string_view>

namespace sluice::log {

enum class Level { debug, info, warn, error };

// Sets up the process's log on stdout: one line of text each, or one JSON object each.
void open(Level level, bool as_json);

// A member of an object: "name":"value". The name is plain.
std::string field(std::string_view name, std::string_view value);

// One line. `fields` is the inside of a JSON object, such as "port":7070, or empty.
void write(Level level, std::string_view message, std::string_view fields = {});

inline void info(std::string_view message, std::string_view fields = {}) {
    write(Level::info, message, fields);
}
inline void warn(std::string_view message, std::string_view fields = {}) {
    write(Level::warn, message, fields);
}
inline void error(std::string_view message, std::string_view fields = {}) {
    write(Level::error, message, fields);
}

}  // namespace sluice::log
