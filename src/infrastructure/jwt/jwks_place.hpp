#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Where the keys are: a URL, or else the path of a file.
bool is_jwks_url(std::string_view place);

// What is wrong with it, for people: keys that come over the network unprotected could be anyone's,
// so that http is for the same machine only. Nothing when it can be used.
std::optional<std::string> problem_with_jwks_place(std::string_view place);

}  // namespace sluice
