#include "infrastructure/system/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>

#include "domain/values/json_text.hpp"
#include "domain/values/utf8.hpp"

namespace sluice::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
    switch (level) {
        case Level::debug: return spdlog::level::debug;
        case Level::info: return spdlog::level::info;
        case Level::warn: return spdlog::level::warn;
        case Level::error: return spdlog::level::err;
    }
    return spdlog::level::info;
}

// spdlog's logger is the process's one log; whether it writes JSON is set once, before any thread
// starts.
bool speaks_json = false;

// Whether a character controls a terminal although JSON allows it: DEL, the second set of control
// characters, and marks that turn the direction of writing.
bool steers_terminal(std::string_view character) {
    if (character == "\x7F") return true;
    if (character.size() == 2) return character[0] == '\xC2' && character[1] < '\xA0';
    if (character.size() != 3 || character[0] != '\xE2') return false;
    const char last = character[2];
    if (character[1] == '\x81') return last >= '\xA6' && last <= '\xA9';
    return character[1] == '\x80' &&
           (last == '\x8E' || last == '\x8F' || (last >= '\xAA' && last <= '\xAE'));
}

// Names in messages come from outside. A character that would begin a new line is written as JSON
// would, and any other that could control a terminal, or is not UTF-8, as U+FFFD.
void append_on_one_line(std::string& out, std::string_view message) {
    std::string quoted;
    append_json_string(quoted, message);
    std::string_view rest(quoted);
    rest.remove_prefix(1);
    rest.remove_suffix(1);
    while (!rest.empty()) {
        if (rest.starts_with("\\\"") || rest.starts_with("\\\\")) rest.remove_prefix(1);
        const std::size_t length =
            std::max<std::size_t>(1, utf8_length(rest.data(), rest.data() + rest.size()));
        const std::string_view character = rest.substr(0, length);
        out.append(steers_terminal(character) ? "\uFFFD" : character);
        rest.remove_prefix(length);
    }
}

}  // namespace

void open(Level level, bool as_json) {
    auto logger = spdlog::stdout_logger_mt("sluice");
    logger->set_level(to_spdlog(level));
    logger->set_pattern(
        as_json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})" : "%H:%M:%S.%e %l  %v",
        as_json ? spdlog::pattern_time_type::utc : spdlog::pattern_time_type::local);
    logger->flush_on(spdlog::level::info);
    speaks_json = as_json;
    spdlog::set_default_logger(std::move(logger));
}

std::string field(std::string_view name, std::string_view value) {
    std::string out = fmt::format("\"{}\":", name);
    append_json_string(out, value);
    return out;
}

void write(Level level, std::string_view message, std::string_view fields) {
    if (!spdlog::default_logger_raw()->should_log(to_spdlog(level))) return;
    std::string line;
    if (speaks_json) {
        line = field("message", message);
        if (!fields.empty()) line.append(",").append(fields);
    } else {
        append_on_one_line(line, message);
        if (!fields.empty()) line.append("  ").append(fields);
    }
    spdlog::default_logger_raw()->log(to_spdlog(level), "{}", line);
}

}  // namespace sluice::log
