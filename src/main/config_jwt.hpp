#pragma once

#include "main/config_section.hpp"

// Whose JSON Web Tokens are believed, from TOML.
namespace sluice {

// Nothing when the table is not there.
std::optional<JwtSettings> read_jwt(Section table);

}  // namespace sluice
