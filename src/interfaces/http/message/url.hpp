#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::http {

// Decodes %XX once. Refuses malformed escapes, NUL, and a result that is not UTF-8. A plus sign
// stays a plus sign.
std::optional<std::string> percent_decode(std::string_view text);

// Decodes %XX of letters, digits, and the marks -._~ once, which mean the same encoded or not
// (RFC 3986, 2.3). All else, a malformed escape too, stays as it is.
std::string decode_unreserved(std::string_view path);

// The parameters of a query string, decoded once; a plus sign is a space.
class QueryParams {
  public:
    static constexpr std::size_t count_max = 32;
    static constexpr const char* complaint =  // for a query that parse() refuses
        "the query string cannot be read: write name=value&name=value, at most 32 of them, with "
        "UTF-8 text as %XX, and without %00";

    // Refuses what percent_decode refuses, parameters without a name, and more than count_max.
    static std::optional<QueryParams> parse(std::string_view query);

    // The value of the first parameter of exactly this name, or nothing when it is absent.
    const std::string* find(std::string_view name) const;

    // Drops all whose name is not among these.
    void keep_only(std::initializer_list<std::string_view> names);

    const std::vector<std::pair<std::string, std::string>>& all() const { return params_; }

  private:
    std::vector<std::pair<std::string, std::string>> params_;
};

}  // namespace sluice::http
