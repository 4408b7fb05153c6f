#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "main/config.hpp"

namespace sluice {

// Overrides what the TOML text names. Appends a line for each problem, in the order of the file.
void read_toml(std::string_view text, std::string_view file_name, Config& out,
               std::vector<std::string>& problems);

}  // namespace sluice
