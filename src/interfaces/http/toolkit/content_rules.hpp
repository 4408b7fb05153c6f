#pragma once

#include <optional>
#include <string>

#include "interfaces/http/toolkit/route.hpp"

// The parameters and bodies that a request may have, by its contract and its route.
namespace sluice::http {

struct ContentRefusal {
    int status = 415;
    std::string_view code;
    std::string message;
    bool names_codings = false;  // the answer says which content codings are taken
};

// Refuses parameters that the route does not take.
std::optional<ContentRefusal> refuse_query(const Request& request, const Contract& contract,
                                           const Route& route);

// Refuses a body that is not JSON in UTF-8, sent as it is.
std::optional<ContentRefusal> refuse_body(const Request& request, const Contract& contract);

}  // namespace sluice::http
