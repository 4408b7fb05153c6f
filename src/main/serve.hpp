#pragma once

#include "config/config.hpp"

namespace sluice {

// Runs the engine until SIGTERM or SIGINT. Returns the process's exit code: 0 after an orderly
// stop. `welcome` prints the address and commands to try, for people who start it by hand.
int serve(const Config& config, bool welcome);

}  // namespace sluice
