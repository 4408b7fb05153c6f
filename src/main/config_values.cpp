#include "main/config_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>

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

bool is_letter(char c) {
    return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// How many letters must be added, left out, changed or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

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

std::optional<HostAndPort> parse_listen(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    const auto port = parse_integer(text.substr(colon + 1));
    if (!port || *port < 0 || *port > std::numeric_limits<std::uint16_t>::max())
        return std::nullopt;
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        return std::nullopt;  // an IPv6 address needs brackets to tell its end from the port
    }
    if (host.empty()) return std::nullopt;
    return HostAndPort{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<bool> parse_flag(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
    for (const char* yes : {"true", "1", "yes", "on"}) {
        if (lower == yes) return true;
    }
    for (const char* no : {"false", "0", "no", "off"}) {
        if (lower == no) return false;
    }
    return std::nullopt;
}

std::string suggestion(std::string_view unknown, const std::vector<std::string>& known) {
    const std::string* nearest = nullptr;
    std::size_t distance = std::max<std::size_t>(2, unknown.size() / 3) + 1;
    for (const std::string& name : known) {
        const std::size_t found = edit_distance(unknown, name);
        if (found >= distance) continue;
        nearest = &name;
        distance = found;
    }
    if (nearest != nullptr) return fmt::format("did you mean \"{}\"?", *nearest);
    return fmt::format("known here: {}", fmt::join(known, ", "));
}

}  // namespace sluice
