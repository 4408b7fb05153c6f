#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

using Duration = std::chrono::microseconds;

// A moment in UTC, to the microsecond. Stores keep it as one integer.
using Timestamp = std::chrono::time_point<std::chrono::system_clock, Duration>;

inline constexpr Timestamp never = Timestamp::max();

constexpr Timestamp from_micros(std::int64_t micros) {
    return Timestamp{Duration{micros}};
}
constexpr std::int64_t to_micros(Timestamp time) {
    return time.time_since_epoch().count();
}
constexpr std::int64_t to_millis(Duration duration) {
    return duration.count() / 1000;
}
constexpr Duration from_millis(std::int64_t millis) {
    return Duration{millis * 1000};
}

// Appends `time` as RFC 3339 with milliseconds and Z, e.g. 2026-11-15T03:24:24.118Z.
// Years outside 0000..9999 are shown as the nearest end of that range.
void append_rfc3339(std::string& out, Timestamp time);
std::string to_rfc3339(Timestamp time);

// Reads RFC 3339 with any offset and up to nine fraction digits (cut to microseconds).
// Refuses impossible dates; a leap second (:60) is read as the following second.
std::optional<Timestamp> parse_rfc3339(std::string_view text);

}  // namespace sluice
