#include "domain/values/json_text.hpp"

#include "domain/values/utf8.hpp"

namespace sluice {
namespace {

void append_escaped(std::string& out, char c) {
    constexpr char hex[] = "0123456789abcdef";
    switch (c) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\b': out += "\\b"; return;
        case '\f': out += "\\f"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: break;
    }
    out += "\\u00";
    out.push_back(hex[c >> 4]);
    out.push_back(hex[c & 0xF]);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out.push_back('"');
    const char* at = text.data();
    const char* const end = at + text.size();
    const char* run = at;  // from here to `at` all is valid as it is, and not yet in `out`
    while ((at = skip_plain(at, end)) != end) {
        const bool is_ascii = static_cast<unsigned char>(*at) < 0x80;
        const std::size_t length = is_ascii ? 0 : utf8_length(at, end);
        if (length > 0) {
            at += length;
            continue;
        }
        out.append(run, at);
        if (is_ascii) {
            append_escaped(out, *at);
        } else {
            out += "\uFFFD";
        }
        run = ++at;
    }
    out.append(run, end);
    out.push_back('"');
}

}  // namespace sluice
