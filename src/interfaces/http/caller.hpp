#pragma once

#include "application/caller.hpp"
#include "interfaces/http/app.hpp"

namespace sluice::http {

// Who sent the request. Without access tokens callers say themselves who they are, by the header
// X-Sluice-User; who does not is the operator of this machine and may do everything.
Caller caller_of(const Call& call);

// Whether the name that the caller gives, if any, can be one. What does not is refused before it
// reaches a handler.
bool names_its_caller_well(const Request& request);

}  // namespace sluice::http
