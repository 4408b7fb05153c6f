#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "interfaces/http/app.hpp"
#include "interfaces/http/rights.hpp"

namespace sluice::http {

struct Route {
    Verb verb;
    std::string_view pattern;  // {…} stands for one segment; at most two
    Right right;               // who may
    void (*handler)(Call);
    std::size_t body_bytes = 0;  // zero: the usual limit
};

// One of the ways in which the engine is spoken to: its paths, and how it says no to requests that
// reach none of its handlers.
struct Contract {
    std::string_view prefix;  // of its paths
    std::span<const Route> routes;
    Response (*refusal)(int status, std::string_view code, const std::string& message,
                        std::string_view request_id);
    Reading reading = Reading::strict;  // of bodies and queries
};

}  // namespace sluice::http
