#include "interfaces/http/message/url.hpp"

#include <algorithm>

#include "domain/values/ascii.hpp"
#include "domain/values/hex.hpp"
#include "domain/values/utf8.hpp"

namespace sluice::http {
namespace {

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            if (text.size() - i < 3) return std::nullopt;
            const int high = hex_digit(text[i + 1]);
            const int low = hex_digit(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            c = static_cast<char>(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (c == '\0') return std::nullopt;
        out.push_back(c);
    }
    if (!is_utf8(out)) return std::nullopt;
    return out;
}

bool is_unreserved(char c) {
    return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) {
    return decode(text, false);
}

std::string decode_unreserved(std::string_view path) {
    std::string out;
    out.reserve(path.size());
    for (std::size_t i = 0; i < path.size(); ++i) {
        const bool is_escape = path[i] == '%' && path.size() - i >= 3;
        const int high = is_escape ? hex_digit(path[i + 1]) : -1;
        const int low = is_escape ? hex_digit(path[i + 2]) : -1;
        const char meant = static_cast<char>(high * 16 + low);
        const bool is_decoded = high >= 0 && low >= 0 && is_unreserved(meant);
        out.push_back(is_decoded ? meant : path[i]);
        if (is_decoded) i += 2;
    }
    return out;
}

std::optional<QueryParams> QueryParams::parse(std::string_view query) {
    QueryParams result;
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view part = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (part.empty()) continue;  // as in "a=1&&b=2": browsers' forms produce it

        const std::size_t equals = std::min(part.find('='), part.size());
        std::optional<std::string> name = decode(part.substr(0, equals), true);
        std::optional<std::string> value =
            decode(part.substr(std::min(equals + 1, part.size())), true);
        if (!name || !value || name->empty()) return std::nullopt;
        if (result.params_.size() == count_max) return std::nullopt;
        result.params_.emplace_back(std::move(*name), std::move(*value));
    }
    return result;
}

void QueryParams::keep_only(std::initializer_list<std::string_view> names) {
    std::erase_if(params_, [&](const auto& param) {
        return std::find(names.begin(), names.end(), param.first) == names.end();
    });
}

const std::string* QueryParams::find(std::string_view name) const {
    for (const auto& [key, value] : params_) {
        if (key == name) return &value;
    }
    return nullptr;
}

}  // namespace sluice::http
