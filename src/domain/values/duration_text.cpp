#include "domain/values/duration_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "domain/values/ascii.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

struct Unit {
    std::string_view name;
    Duration length;
};
constexpr auto units = std::to_array<Unit>({
    {"d", 24h},
    {"h", 1h},
    {"m", 1min},
    {"s", 1s},
    {"ms", 1ms},
});
constexpr Duration longest =
    24h * 366 * 100;  // far from the end of the type, so that sums are safe

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
    if (text.empty()) return std::nullopt;
    Duration sum{0};
    auto next_unit = units.begin();  // each unit at most once, in this order
    while (!text.empty()) {
        const auto digits_end = std::find_if_not(text.begin(), text.end(), is_digit);
        const auto name_end = std::find_if_not(digits_end, text.end(), is_letter);
        const auto number = parse_integer({text.begin(), digits_end});
        const std::string_view name(digits_end, name_end);
        const auto unit = std::find_if(next_unit, units.end(),
                                       [&](const Unit& known) { return known.name == name; });
        if (!number || unit == units.end()) return std::nullopt;
        if (*number > longest / unit->length) return std::nullopt;
        sum += *number * unit->length;
        next_unit = unit + 1;
        text = {name_end, text.end()};
    }
    if (sum > longest) return std::nullopt;
    return sum;
}

std::string duration_text(Duration duration) {
    std::string out;
    for (const Unit& unit : units) {
        const auto count = duration / unit.length;
        if (count > 0) out += fmt::format("{}{}", count, unit.name);
        duration -= count * unit.length;
    }
    return out.empty() ? "0s" : out;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace sluice
