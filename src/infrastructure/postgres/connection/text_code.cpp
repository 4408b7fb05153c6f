#include "infrastructure/postgres/connection/text_code.hpp"

namespace sluice::postgres {
namespace {

constexpr char nul = '\0';
constexpr char escape = '\1';
constexpr char escaped_nul = 'z';
constexpr char escaped_escape = 'a';

constexpr std::string_view special{"\0\1", 2};

}  // namespace

void append_encoded(std::string& out, std::string_view text) {
    std::size_t begin = 0;
    for (std::size_t at = text.find_first_of(special); at != std::string_view::npos;
         at = text.find_first_of(special, begin)) {
        out.append(text.substr(begin, at - begin));
        out.push_back(escape);
        out.push_back(text[at] == nul ? escaped_nul : escaped_escape);
        begin = at + 1;
    }
    out.append(text.substr(begin));
}

std::string decode(std::string_view kept) {
    std::string text;
    text.reserve(kept.size());
    std::size_t begin = 0;
    for (std::size_t at = kept.find(escape); at != std::string_view::npos && at + 1 < kept.size();
         at = kept.find(escape, begin)) {
        text.append(kept.substr(begin, at - begin));
        text.push_back(kept[at + 1] == escaped_nul ? nul : escape);
        begin = at + 2;
    }
    text.append(kept.substr(begin));
    return text;
}

}  // namespace sluice::postgres
