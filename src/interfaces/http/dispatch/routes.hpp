#pragma once

#include <span>
#include <string>

#include "interfaces/http/toolkit/route.hpp"

namespace sluice::http {

// All contracts of the engine.
std::span<const Contract* const> contracts();

// Throws std::logic_error, which names the route, when by mistake no caller or every caller may use
// it. To be called before the first request.
void check_rights();

// The table of routes and the rights that they need, for docs/security.md.
std::string rights_table();

}  // namespace sluice::http
