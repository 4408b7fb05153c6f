#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::http {

// The length in bytes of the UTF-8 character that `text` starts with, or 0 when it does not start
// with one (overlong forms, surrogates, and code points above U+10FFFF are none).
std::size_t utf8_character_bytes(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace sluice::http
