#pragma once

#include "domain/values/time.hpp"

namespace sluice {

// How long the machine has been up. It cannot be set, and unlike the steady clock of the standard
// library it goes on while the machine is suspended.
Duration since_boot();

}  // namespace sluice
