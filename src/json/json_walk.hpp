#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

// Walks through JSON text that was found valid before, and finds the positions of values in it.
// Names may repeat.
namespace sluice {

// One step of the path to a value: a member's name, decoded, or an element's index.
struct JsonStep {
    std::string name;
    bool is_member = true;
};
using JsonPath = std::vector<JsonStep>;

// Calls `is_wanted` for every value below the whole text, from the outside to the inside, and
// passes each wanted one to `take`, as it stands in the text. The inside of a value that was taken
// is skipped. A value that is nested deeper than any text that this engine accepts is taken without
// a call.
void take_values(std::string_view text, const std::function<bool(const JsonPath&)>& is_wanted,
                 const std::function<void(std::string_view)>& take);

// A token that has a meaning by itself: a string, a number, or where an object begins or ends.
struct JsonToken {
    enum class Kind { name, string, number, object_begin, object_end };

    std::string_view source;  // as it stands in the text, with the quotes of a string
    Kind kind = Kind::string;

    // The decoded text of a string.
    std::string decoded() const;
};
void for_each_token(std::string_view text, const std::function<void(const JsonToken&)>& visit);

}  // namespace sluice
