#pragma once

#include <string>
#include <vector>

namespace sluice::cli {

// The values of --kind and --scope of `sluice token create`.
const std::vector<std::string>& token_kinds();
const std::vector<std::string>& token_scopes();

}  // namespace sluice::cli
