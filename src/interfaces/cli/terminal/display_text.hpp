#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "domain/values/time.hpp"

// Text from jobs, and times, for a terminal or a line of output.
namespace sluice::cli {

// A text of a job, a worker or a file, made harmless to the terminal: control characters, bytes
// that are no UTF-8 and marks that turn the direction of writing are shown as escapes (\n, \x1b,
// \u202e); colours (SGR sequences) are left out.
std::string printable(std::string_view text);

// The same JSON, made harmless to the terminal: such characters in its strings are written as \u
// escapes.
std::string printable_json(std::string_view json);

// How many columns the text takes on a terminal. The text must be printable.
std::size_t display_width(std::string_view text);

// The text cut to this many columns, with "…" for the missing part.
std::string clipped(std::string_view text, std::size_t width);

// The text with spaces up to this many columns.
std::string padded(std::string_view text, std::size_t width);

// One number and one unit, rounded down: "320ms", "12s", "5m", "3h", "2d".
std::string short_duration(Duration duration);

// For a duration that a person watches: "0.3s", "12.4s", "6m12s", "1h05m".
std::string stopwatch(Duration duration);

// "2026-11-15 04:11:02.922Z"
std::string absolute_time(Timestamp time);

// "04:11:02.922", in UTC
std::string time_of_day(Timestamp time);

Timestamp now();

}  // namespace sluice::cli
