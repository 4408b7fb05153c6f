#pragma once

#include "main/config_section.hpp"

// The deploy control plane, from TOML.
namespace sluice {

void read_deploy(Section table, http::deploy::Settings& out);

}  // namespace sluice
