#pragma once

#include <string>

namespace sluice {

// 256 bits from the system's source of randomness, as 43 characters of base64url.
std::string random_secret();

}  // namespace sluice
