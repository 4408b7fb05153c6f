#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/values/time.hpp"

// How people write durations and numbers, in files, flags and the environment alike.
namespace sluice {

// "250ms", "30s", "1h30m", "7d": numbers with the units d, h, m, s, ms, larger ones first.
std::optional<Duration> parse_duration(std::string_view text);

// The shortest text that parse_duration reads as this, to the millisecond.
std::string duration_text(Duration duration);

std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace sluice
