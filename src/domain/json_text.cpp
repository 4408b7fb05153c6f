#include "domain/json_text.hpp"

#include <array>

namespace sluice {
namespace {

constexpr std::array<bool, 256> make_escape_table() {
    std::array<bool, 256> table{};
    for (std::size_t c = 0; c < 0x20; ++c) table[c] = true;
    table['"'] = table['\\'] = table[0x7F] = true;
    return table;
}
constexpr std::array<bool, 256> needs_escape = make_escape_table();

void append_escape(std::string& out, unsigned char c) {
    constexpr char digit[] = "0123456789abcdef";
    switch (c) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default:
            out += "\\u00";
            out += digit[c >> 4];
            out += digit[c & 0xF];
    }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    std::size_t plain = 0;  // start of the run that needs no escape
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (!needs_escape[c]) continue;
        out.append(text, plain, i - plain);
        append_escape(out, c);
        plain = i + 1;
    }
    out.append(text, plain);
    out += '"';
}

}  // namespace sluice
