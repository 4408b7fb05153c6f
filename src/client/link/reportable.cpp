#include "client/link/reportable.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "client/link/job_json.hpp"
#include "domain/values/json_text.hpp"
#include "domain/values/utf8.hpp"

namespace sluice::client {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_clean(std::string_view text, std::size_t bytes_max) {
    return text.size() <= bytes_max && text.find('\0') == std::string_view::npos && is_utf8(text);
}

Outcome invalid_result(std::string message) {
    return Outcome::failed("INVALID_RESULT", std::move(message), false);
}

}  // namespace

std::string clean_text(std::string_view text, std::size_t bytes_max) {
    if (is_clean(text, bytes_max)) return std::string(text);
    std::string clean;
    clean.reserve(std::min(text.size(), bytes_max));
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        const std::size_t length = utf8_length(at, end);
        const std::string_view next = length == 0 ? replacement : std::string_view(at, length);
        at += std::max<std::size_t>(length, 1);
        if (next == std::string_view("\0", 1)) continue;
        if (clean.size() + next.size() > bytes_max) break;
        clean += next;
    }
    return clean;
}

std::string clean_log_data(std::string_view data) {
    if (data.empty()) return {};
    if (data.size() <= text_limits::log_data &&
        problem_with_json(data, json_depth::log_data).empty())
        return std::string(data);
    // An escaped byte takes six bytes at the most.
    std::string text;
    append_json_string(text, clean_text(data, (text_limits::log_data - 2) / 6));
    return text;
}

Outcome reportable(Outcome outcome) {
    if (outcome.result.size() > text_limits::result) {
        return invalid_result(fmt::format("the result is {} bytes long; at most {} are allowed",
                                          outcome.result.size(), text_limits::result));
    }
    if (!outcome.result.empty()) {
        const std::string problem = problem_with_json(outcome.result, json_depth::result);
        if (!problem.empty()) {
            return invalid_result(
                fmt::format("the result is not JSON that the engine takes: {}", problem));
        }
    }
    outcome.error_code = clean_text(outcome.error_code, text_limits::error_code);
    outcome.error_message = clean_text(outcome.error_message, text_limits::error_message);
    if (outcome.kind != Outcome::Kind::failed) {
        outcome.retryable = false;
        return outcome;
    }
    if (outcome.error_code.empty()) outcome.error_code = "WORKER_FAILED";
    if (outcome.error_message.empty()) outcome.error_message = "the worker gave no reason";
    return outcome;
}

}  // namespace sluice::client
