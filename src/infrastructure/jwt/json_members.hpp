#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The members of one JSON object, such as a token's claims, read by their expected types.
class JsonMembers {
  public:
    // Nothing when the text is not exactly one JSON object, or has a key twice. The text must
    // outlive the result.
    static std::optional<JsonMembers> read(std::string_view text);

    bool has(std::string_view name) const { return find(name) != nullptr; }

    // Each gives nothing when the member is absent or of another type.
    std::optional<std::string> text(std::string_view name) const;
    std::optional<double> number(std::string_view name) const;
    // A text, or an array of texts.
    std::optional<std::vector<std::string>> texts(std::string_view name) const;
    bool is_true(std::string_view name) const;

    // The elements of an array, as JSON.
    std::optional<std::vector<std::string_view>> elements(std::string_view name) const;

  private:
    const std::string_view* find(std::string_view name) const;

    std::map<std::string, std::string_view, std::less<>> members_;
};

}  // namespace sluice
