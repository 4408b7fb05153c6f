#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::cli {

// The members of one JSON object, in order, each value as it stands in the text.
class JsonObject {
  public:
    // A value that is not an object has no members.
    explicit JsonObject(std::string_view json);

    // The value's JSON, or nothing.
    const std::string* raw(std::string_view name) const;

    // The value as people read it: a string's content, nothing for null, a list's elements with
    // commas between them, and any other value's JSON. It may hold control characters.
    std::string text(std::string_view name) const;

    const std::vector<std::pair<std::string, std::string>>& members() const { return members_; }

    // The elements of a list, each as it stands; none when it is no list.
    std::vector<std::string> elements(std::string_view name) const;

    // An object with only these members, in this order; absent ones are null.
    std::string picked(const std::vector<std::string>& names) const;

  private:
    std::vector<std::pair<std::string, std::string>> members_;
};

// The content of a JSON string; nothing for other values.
std::optional<std::string> decoded_json_string(std::string_view json);

// The same document without line breaks, which JSON allows between its tokens only.
std::string on_one_line(std::string json);

// The same document with one member or element a line; for people.
std::string indented_json(std::string_view json);

// The problem with a text that should be JSON, or nothing.
std::optional<std::string> json_problem(std::string_view text);

}  // namespace sluice::cli
