#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// The source of the keys: a URL, or else the path of a file.
bool is_jwks_url(std::string_view source);

// The problem with the source, for people: keys that come over the network unprotected could be
// anyone's, so http is for the same machine only. Nothing when it can be used.
std::optional<std::string> problem_with_jwks_source(std::string_view source);

}  // namespace sluice
