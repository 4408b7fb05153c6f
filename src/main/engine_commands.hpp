#pragma once

#include "interfaces/cli/framework/cli.hpp"

namespace sluice {

// serve and dev, which run an engine.
void add_engine_commands(cli::Command& program);

}  // namespace sluice
