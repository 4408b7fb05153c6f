#pragma once

#include "interfaces/http/toolkit/route.hpp"

namespace sluice::http::native {

// /api/v1, which the command line, the console and the client libraries use; and the paths for
// watching the engine itself.
const Contract& contract();

}  // namespace sluice::http::native
