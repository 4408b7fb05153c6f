#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "interfaces/http/access/rights.hpp"
#include "interfaces/http/toolkit/app.hpp"

namespace sluice::http {

// The reader of a request's parameters.
enum class Query {
    none,     // it must not have any
    handler,  // the handler, which refuses what it does not know
    ignored   // it may have any
};

struct Route {
    Verb verb;
    std::string_view pattern;  // {…} stands for one segment that is not empty
    Right right;               // that a caller needs
    void (*handler)(Call);
    Query query = Query::none;   // counts in strict contracts
    std::size_t body_bytes = 0;  // zero: the usual limit
};

// One of the engine's HTTP APIs: its paths, and its form of refusals for requests that reach none
// of its handlers.
struct Contract {
    std::string_view prefix;  // of its paths
    std::span<const Route> routes;
    Response (*refusal)(int status, std::string_view code, const std::string& message,
                        std::string_view request_id);
    // A strict contract refuses members and parameters that it does not know, and bodies without a
    // Content-Type.
    Reading reading = Reading::strict;
};

}  // namespace sluice::http
