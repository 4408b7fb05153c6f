#include "interfaces/cli/terminal/display_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "domain/values/utf8.hpp"

namespace sluice::cli {
namespace {

using namespace std::chrono_literals;

struct CodePointRange {
    char32_t first;
    char32_t last;
};

// Marks that are drawn over the letter before them, or not at all.
constexpr auto narrow = std::to_array<CodePointRange>({
    {0x0300, 0x036F},
    {0x0483, 0x0489},
    {0x0591, 0x05BD},
    {0x0610, 0x061A},
    {0x064B, 0x065F},
    {0x200B, 0x200D},
    {0x20D0, 0x20F0},
    {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F},
    {0xE0100, 0xE01EF},
});
constexpr auto wide = std::to_array<CodePointRange>({
    {0x1100, 0x115F},
    {0x2E80, 0x303E},
    {0x3041, 0xA4CF},
    {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF},
    {0x1F900, 0x1FAFF},
    {0x20000, 0x3FFFD},
});
// Characters that deceive a reader: C1 controls, line and paragraph separators, and marks that turn
// the direction of writing.
constexpr auto deceiving = std::to_array<CodePointRange>({
    {0x0080, 0x009F},
    {0x061C, 0x061C},
    {0x200E, 0x200F},
    {0x2028, 0x202E},
    {0x2060, 0x206F},
    {0xFEFF, 0xFEFF},
    {0xFFF9, 0xFFFB},
    {0xE0000, 0xE007F},
});

template <std::size_t size>
bool is_in(const std::array<CodePointRange, size>& ranges, char32_t point) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const CodePointRange& range) {
        return range.first <= point && point <= range.last;
    });
}

// The character at the front of `text`, which has `length` bytes.
char32_t code_point(std::string_view text, std::size_t length) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (length == 1) return byte(0);
    char32_t point = byte(0) & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i) point = (point << 6) | (byte(i) & 0x3Fu);
    return point;
}

std::size_t columns_of(char32_t point) {
    if (is_in(narrow, point)) return 0;
    return is_in(wide, point) ? 2 : 1;
}

// The length of the colour sequence (ESC [ digits m) at the front of `text`, or 0.
std::size_t colour_length(std::string_view text) {
    if (!text.starts_with("\x1b[")) return 0;
    const std::size_t end = text.find_first_not_of("0123456789;:", 2);
    return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

void append_control(std::string& out, unsigned char byte) {
    switch (byte) {
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    }
}

// Calls `take(bytes, columns)` for each character.
template <class Take>
void for_each_character(std::string_view text, Take&& take) {
    while (!text.empty()) {
        const std::size_t length =
            std::max<std::size_t>(1, utf8_length(text.data(), text.data() + text.size()));
        if (!take(text.substr(0, length), columns_of(code_point(text, length)))) return;
        text.remove_prefix(length);
    }
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        if (const std::size_t colour = colour_length(text)) {
            text.remove_prefix(colour);
            continue;
        }
        const auto byte = static_cast<unsigned char>(text[0]);
        const std::size_t length = utf8_length(text.data(), text.data() + text.size());
        if (length == 0 || byte < 0x20 || byte == 0x7F) {
            append_control(out, byte);
        } else if (const char32_t point = code_point(text, length); is_in(deceiving, point)) {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(point));
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(1, length));
    }
    return out;
}

std::string printable_json(std::string_view json) {
    std::string out;
    out.reserve(json.size());
    const auto escape = [&](char32_t unit) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(unit));
    };
    while (!json.empty()) {
        const std::size_t length = utf8_length(json.data(), json.data() + json.size());
        const char32_t point = length == 0 ? 0xFFFD : code_point(json, length);
        if (point == '\r') {
            out += ' ';  // between values, where JSON allows it
        } else if (length == 0 || point == 0x7F ||
                   (point < 0x20 && point != '\n' && point != '\t')) {
            escape(point);
        } else if (!is_in(deceiving, point)) {
            out += json.substr(0, length);
        } else if (point < 0x10000) {
            escape(point);
        } else {
            escape(0xD800 + ((point - 0x10000) >> 10));
            escape(0xDC00 + ((point - 0x10000) & 0x3FF));
        }
        json.remove_prefix(std::max<std::size_t>(1, length));
    }
    return out;
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for_each_character(text, [&](std::string_view, std::size_t columns) {
        width += columns;
        return true;
    });
    return width;
}

std::string clipped(std::string_view text, std::size_t width) {
    if (text.size() <= width || display_width(text) <= width) return std::string(text);
    if (width == 0) return {};
    std::string out;
    std::size_t used = 0;
    for_each_character(text, [&](std::string_view bytes, std::size_t columns) {
        if (used + columns > width - 1) return false;
        out += bytes;
        used += columns;
        return true;
    });
    return out + "…";
}

std::string padded(std::string_view text, std::size_t width) {
    std::string out(text);
    const std::size_t used = display_width(text);
    if (used < width) out.append(width - used, ' ');
    return out;
}

std::string short_duration(Duration duration) {
    if (duration < Duration::zero()) duration = Duration::zero();
    if (duration < 1s) return fmt::format("{}ms", duration / 1ms);
    if (duration < 2min) return fmt::format("{}s", duration / 1s);
    if (duration < 2h) return fmt::format("{}m", duration / 1min);
    if (duration < 48h) return fmt::format("{}h", duration / 1h);
    return fmt::format("{}d", duration / 24h);
}

std::string stopwatch(Duration duration) {
    if (duration < Duration::zero()) duration = Duration::zero();
    if (duration < 1min) return fmt::format("{}.{}s", duration / 1s, duration % 1s / 100ms);
    if (duration < 1h) return fmt::format("{}m{:02}s", duration / 1min, duration % 1min / 1s);
    if (duration < 24h) return fmt::format("{}h{:02}m", duration / 1h, duration % 1h / 1min);
    return fmt::format("{}d{:02}h", duration / 24h, duration % 24h / 1h);
}

std::string absolute_time(Timestamp time) {
    std::string text = to_rfc3339(time);
    text[text.find('T')] = ' ';
    return text;
}

std::string time_of_day(Timestamp time) {
    const std::string text = to_rfc3339(time);
    const std::size_t begin = text.find('T') + 1;
    return text.substr(begin, text.size() - begin - 1);
}

Timestamp now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace sluice::cli
