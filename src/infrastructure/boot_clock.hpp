#pragma once

#include "domain/time.hpp"

namespace sluice {

// How long the machine has been up. Nobody can set it, and unlike the steady clock of the standard
// library it goes on while the machine is suspended.
Duration since_boot();

}  // namespace sluice
