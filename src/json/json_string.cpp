#include "json/json_string.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The four hex digits at `at`, or -1.
int hex_unit(const char* at, const char* end) {
    if (end - at < 4) return -1;
    int unit = 0;
    for (const char* c = at; c != at + 4; ++c) {
        const int lower = *c | 0x20;
        if (*c >= '0' && *c <= '9') {
            unit = unit * 16 + (*c - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            unit = unit * 16 + (lower - 'a' + 10);
        } else {
            return -1;
        }
    }
    return unit;
}

bool is_high_surrogate(int unit) {
    return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low_surrogate(int unit) {
    return unit >= 0xDC00 && unit < 0xE000;
}

void append_utf8(std::string& out, int code_point) {
    const auto put = [&](int byte) { out.push_back(static_cast<char>(byte)); };
    if (code_point < 0x80) return put(code_point);
    if (code_point < 0x800) {
        put(0xC0 | (code_point >> 6));
    } else {
        if (code_point < 0x10000) {
            put(0xE0 | (code_point >> 12));
        } else {
            put(0xF0 | (code_point >> 18));
            put(0x80 | ((code_point >> 12) & 0x3F));
        }
        put(0x80 | ((code_point >> 6) & 0x3F));
    }
    put(0x80 | (code_point & 0x3F));
}

char simple_escape(char c) {
    switch (c) {
        case '"': return '"';
        case '\\': return '\\';
        case '/': return '/';
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        default: return '\0';
    }
}

}  // namespace

EscapeSequence read_escape(const char* at, const char* end) {
    if (end - at < 2) return {};
    if (at[1] != 'u') return {.length = simple_escape(at[1]) == '\0' ? 0u : 2u};
    const int unit = hex_unit(at + 2, end);
    if (unit < 0 || is_low_surrogate(unit)) return {};
    if (!is_high_surrogate(unit)) return {.length = 6, .is_nul = unit == 0};
    if (end - at < 12 || at[6] != '\\' || at[7] != 'u') return {};
    return {.length = is_low_surrogate(hex_unit(at + 8, end)) ? 12u : 0u};
}

std::string decode_escapes(std::string_view source) {
    std::string out;
    out.reserve(source.size());
    const char* at = source.data();
    const char* const end = at + source.size();
    while (at != end) {
        const char* const escape = std::find(at, end, '\\');
        out.append(at, escape);
        if (escape == end) break;
        if (escape[1] != 'u') {
            out.push_back(simple_escape(escape[1]));
            at = escape + 2;
            continue;
        }
        int code_point = hex_unit(escape + 2, end);
        at = escape + 6;
        if (is_high_surrogate(code_point)) {
            code_point = 0x10000 + ((code_point - 0xD800) << 10) + (hex_unit(at + 2, end) - 0xDC00);
            at += 6;
        }
        append_utf8(out, code_point);
    }
    return out;
}

}  // namespace sluice
