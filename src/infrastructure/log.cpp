#include "infrastructure/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <string>

#include "domain/json_text.hpp"

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

// spdlog's logger is the process's one log; whether it speaks JSON is set once, before any thread
// starts.
bool speaks_json = false;

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

void write(Level level, std::string_view message, std::string_view fields) {
    if (!spdlog::default_logger_raw()->should_log(to_spdlog(level))) return;
    std::string line;
    if (speaks_json) {
        line = R"("message":)";
        append_json_string(line, message);
        if (!fields.empty()) line.append(",").append(fields);
    } else {
        line = message;
        if (!fields.empty()) line.append("  ").append(fields);
    }
    spdlog::default_logger_raw()->log(to_spdlog(level), "{}", line);
}

}  // namespace sluice::log
