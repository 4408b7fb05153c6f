#pragma once

#include <optional>
#include <string_view>

#include "domain/access/caller.hpp"
#include "interfaces/http/message/message.hpp"

namespace sluice::http {

struct App;

// The verdict of a door about a request. Neither a refusal nor a caller: the engine's tokens
// decide.
struct DoorVerdict {
    std::optional<Response> refusal{};  // a wrong secret, or a missing one that is required
    bool is_guess = false;              // a secret was shown
    CallerPtr caller{};                 // of the secret of the door
};

// A secret or a token of a contract's own, beside the access tokens of the engine. The contract
// defines the door and names it in the rights of its routes.
struct Door {
    std::string_view shown_as;  // for people
    std::string_view header;    // that the secret is sent in; empty: none of the door's own
    std::string_view tenant;    // access tokens of other tenants do not open the door
    DoorVerdict (*look)(const Request& request, const App& app);
};

}  // namespace sluice::http
