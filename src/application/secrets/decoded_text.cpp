#include "application/secrets/decoded_text.hpp"

#include <algorithm>
#include <numeric>

#include "domain/values/hex.hpp"
#include "json/json_string.hpp"

namespace sluice {
namespace {

// The byte that "%41" at the beginning of the text means, or -1.
int percent_byte(std::string_view text) {
    if (text.size() < 3 || text[0] != '%') return -1;
    const int high = hex_digit(text[1]);
    const int low = hex_digit(text[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace

DecodedText::DecodedText(std::string_view source) : source_(source) {
    text_.reserve(source.size());
    positions_.reserve(source.size());
}

void DecodedText::add(std::string_view bytes, std::size_t position) {
    text_.append(bytes);
    positions_.insert(positions_.end(), bytes.size(), static_cast<std::uint32_t>(position));
}

void DecodedText::add_source(std::size_t begin, std::size_t end) {
    text_.append(source_.substr(begin, end - begin));
    const std::size_t count = positions_.size();
    positions_.resize(count + end - begin);
    std::iota(positions_.begin() + static_cast<std::ptrdiff_t>(count), positions_.end(),
              static_cast<std::uint32_t>(begin));
}

DecodedText DecodedText::from_json(std::string_view source) {
    DecodedText decoded(source);
    const char* const end = source.data() + source.size();
    for (std::size_t at = 0; at < source.size();) {
        const std::size_t escape = std::min(source.find('\\', at), source.size());
        decoded.add_source(at, escape);
        if (escape == source.size()) break;
        const std::size_t length = read_escape(source.data() + escape, end).length;
        if (length == 0) {
            decoded.add_source(escape, escape + 1);
        } else {
            decoded.add(decode_escapes(source.substr(escape, length)), escape);
        }
        at = escape + std::max<std::size_t>(length, 1);
    }
    return decoded;
}

DecodedText DecodedText::from_url(std::string_view source, Plus plus) {
    DecodedText decoded(source);
    const std::string_view marks = plus == Plus::is_space ? "%+" : "%";
    for (std::size_t at = 0; at < source.size();) {
        const std::size_t mark = std::min(source.find_first_of(marks, at), source.size());
        decoded.add_source(at, mark);
        if (mark == source.size()) break;
        const int byte = percent_byte(source.substr(mark));
        if (byte >= 0) {
            const char meant = static_cast<char>(byte);
            decoded.add({&meant, 1}, mark);
        } else {
            decoded.add(source[mark] == '+' ? " " : "%", mark);
        }
        at = mark + (byte >= 0 ? 3 : 1);
    }
    return decoded;
}

std::size_t DecodedText::source_end(std::size_t at) const {
    // One escape can stand for several bytes.
    while (at < positions_.size() && positions_[at] == positions_[at - 1]) ++at;
    return at < positions_.size() ? positions_[at] : source_.size();
}

}  // namespace sluice
