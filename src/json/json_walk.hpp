#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

// Walks through JSON text that was found valid before, and tells where things stand in it. Names
// may repeat.
namespace sluice {

// How one gets to a value: by a member's name, decoded, or an element's number.
struct JsonStep {
    std::string name;
    bool is_member = true;
};
using JsonPath = std::vector<JsonStep>;

// Asks `is_wanted` about every value below the whole text, from the outside to the inside, and
// hands those that are to `take`, as they stand in the text. Nobody asks about what is inside a
// value that was taken. What is nested deeper than any text that this engine accepts is taken
// unasked.
void take_values(std::string_view text, const std::function<bool(const JsonPath&)>& is_wanted,
                 const std::function<void(std::string_view)>& take);

// A part of the text that says something by itself: a string, a number, or where an object begins
// or ends.
struct JsonToken {
    enum class Kind { name, string, number, object_begin, object_end };

    std::string_view source;  // as it stands in the text, with the quotes of a string
    Kind kind = Kind::string;

    // What a string means.
    std::string decoded() const;
};
void for_each_token(std::string_view text, const std::function<void(const JsonToken&)>& visit);

}  // namespace sluice
