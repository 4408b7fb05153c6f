#pragma once

#include <optional>

#include "interfaces/http/app.hpp"
#include "interfaces/http/rights.hpp"

// The doors of this contract, each with a header of its own. A door whose secret is not configured
// asks for none; then, and when a caller shows none, the engine's own tokens decide.
namespace sluice::http::deploy {

struct DoorVerdict {
    std::optional<Response> refusal{};  // what was shown is wrong, or nothing else would do
    bool is_guess = false;              // something was shown
    CallerPtr caller{};                 // who is let in by the secret of the door
};

// Nothing of both: the engine's tokens decide. Doors of other contracts are not looked at.
DoorVerdict look_at_door(Right::Door door, const Request& request, const App& app);

// The header that the door's secret is shown in; empty: the door has none of its own.
std::string_view header_of(Right::Door door);

}  // namespace sluice::http::deploy
