#pragma once

#include "interfaces/http/dispatch/router.hpp"
#include "interfaces/http/toolkit/app.hpp"

namespace sluice::http {

// Sets the destination of a request whose head has arrived: verb and path. Returns how many bytes
// its body may have.
std::size_t on_head(const Router& router, Request& request, std::size_t usual_body_bytes);

// The entry of every request with a destination: identifies the caller, checks its right, and calls
// the handler; or answers 401, 403, 404, 405, 415 or 429.
void dispatch(const Router& router, Request& request, App& app, Reply reply);

}  // namespace sluice::http
