#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "json/json_reader.hpp"
#include "sluice/worker.hpp"

// Makes texts and outcomes of workers acceptable to the engine, which refuses those that break its
// rules.
namespace sluice::client {

namespace text_limits {
inline constexpr std::size_t result = 256 * 1024;
inline constexpr std::size_t error_code = 200;
inline constexpr std::size_t error_message = 16 * 1024;
inline constexpr std::size_t log_message = 64 * 1024;
inline constexpr std::size_t log_data = 64 * 1024;
inline constexpr std::size_t progress_message = 2000;
}  // namespace text_limits

// How deep a value may be nested, so that the call around it stays within what the engine reads.
namespace json_depth {
inline constexpr std::size_t result = JsonLimits::depth - 1;        // {"result":…}
inline constexpr std::size_t batch_result = JsonLimits::depth - 3;  // {"reports":[{"result":…}]}
inline constexpr std::size_t log_data = JsonLimits::depth - 3;      // {"entries":[{"data":…}]}
}  // namespace json_depth

// Valid UTF-8 without NUL, of `bytes_max` bytes at the most: other bytes become U+FFFD, and the end
// is cut off between characters.
std::string clean_text(std::string_view text, std::size_t bytes_max);

// `data` itself when it is JSON, and neither too long nor too deep, else a JSON string with as much
// of it as fits. Empty stays empty.
std::string clean_log_data(std::string_view data);

// The outcome with its texts cleaned. A result that the engine would not take makes it a failure.
Outcome reportable(Outcome outcome);

}  // namespace sluice::client
