#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "interfaces/http/route.hpp"

namespace sluice::http {

// Everything that the engine can be asked, in the order in which it is looked at.
std::span<const Contract* const> contracts();

// The contract with the longest prefix of the path: in its words a refusal is said.
const Contract& contract_of(std::string_view path);

struct FoundRoute {
    const Route* route = nullptr;
    const Contract* contract = nullptr;  // that the route belongs to
    std::string_view first{};            // what stands in the path at its first {…}
    std::string_view second{};           // and at its second
    std::string allowed{};  // verbs that the path does have, when the route was not found
};
FoundRoute find_route(Verb verb, std::string_view path);

// How many bytes a request to this path may carry.
std::size_t body_limit(Verb verb, std::string_view path, std::size_t usual);

// The route's pattern, such as /api/v1/jobs/{id}, for metrics; "other" when there is none.
std::string_view route_of(Verb verb, std::string_view path);

// Throws std::logic_error, naming it, when there is a route that nobody may use or everybody may by
// mistake. To be called before the first request.
void check_rights();

// The table of routes and who may use them, for docs/security.md.
std::string rights_table();

}  // namespace sluice::http
