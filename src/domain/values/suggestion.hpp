#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The one of the known names that is likely meant by this one, or nullptr.
const std::string* nearest(std::string_view unknown, const std::vector<std::string>& known);

// The hint about a name that is not among the known ones: the nearest of them, or else all.
std::string suggestion(std::string_view unknown, const std::vector<std::string>& known);

}  // namespace sluice
