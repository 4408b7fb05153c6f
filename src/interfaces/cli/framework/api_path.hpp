#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sluice::cli {

// "?name=value&…" for those that have a value; empty when none has.
std::string query_text(const std::vector<std::pair<std::string, std::string>>& params);

}  // namespace sluice::cli
