#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Reads base64url without padding (RFC 4648 section 5, RFC 7515 section 2). Each sequence of bytes
// has exactly one accepted form: no other characters, and no bits left over that are not zero.
std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace sluice
