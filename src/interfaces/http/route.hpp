#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "interfaces/http/app.hpp"
#include "interfaces/http/rights.hpp"

namespace sluice::http {

// Who looks at the parameters of a request.
enum class Query {
    none,     // it must not have any
    handler,  // the handler, which refuses what it does not know
    ignored   // it may have any
};

struct Route {
    Verb verb;
    std::string_view pattern;  // {…} stands for one segment; at most two
    Right right;               // who may
    void (*handler)(Call);
    Query query = Query::none;   // counts in strict contracts
    std::size_t body_bytes = 0;  // zero: the usual limit
};

// One of the ways in which the engine is spoken to: its paths, and how it says no to requests that
// reach none of its handlers.
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
