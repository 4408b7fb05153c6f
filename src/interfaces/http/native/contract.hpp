#pragma once

#include "interfaces/http/route.hpp"

namespace sluice::http::native {

// /api/v1, what the command line, the console and the client libraries speak; and the paths by
// which the engine itself is watched.
const Contract& contract();

}  // namespace sluice::http::native
