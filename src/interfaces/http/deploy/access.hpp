#pragma once

#include "interfaces/http/access/door.hpp"

// The doors of this contract, each with a header of its own. A door whose secret is not configured
// asks for none; then, and when a caller shows none, the engine's own tokens decide.
namespace sluice::http::deploy {

extern const Door control_door;  // X-DEPLOY-SECRET
extern const Door runner_door;   // a runner's token, as Authorization: Bearer …
extern const Door node_door;     // X-RT-Node-Token
extern const Door admin_door;    // X-Admin-Token

}  // namespace sluice::http::deploy
