#pragma once

#include <string>
#include <string_view>

namespace sluice {

// Appends `text` as a JSON string, quotes included. `text` must be valid UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace sluice
