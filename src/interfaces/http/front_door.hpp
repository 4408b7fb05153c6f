#pragma once

#include "interfaces/http/app.hpp"

namespace sluice::http {

// Where every request comes in: finds its route, asks who sends it and whether they may, and calls
// the handler; or answers 401, 403, 404, 405, 415 or 429.
void dispatch(Request& request, App& app, Reply reply);

// The refusal for a caller who is not known, or is known no more. In the words of the contract that
// the path belongs to, and the same whatever was wrong.
Response unauthorized(const Request& request, std::string_view other_header = {});

}  // namespace sluice::http
