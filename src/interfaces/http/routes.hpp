#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "interfaces/http/app.hpp"

namespace sluice::http {

// Finds the handler for the request in the table of routes and calls it, or answers 404, 405 or
// 415.
void dispatch(const Request& request, App& app, Reply reply);

// How many bytes a request to this path may carry.
std::size_t body_limit(Verb verb, std::string_view path, std::size_t usual);

// The route's pattern, such as /api/v1/jobs/{id}, for metrics; "other" when there is none.
std::string_view route_of(Verb verb, std::string_view path);

}  // namespace sluice::http
