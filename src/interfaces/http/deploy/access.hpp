#pragma once

#include <optional>

#include "interfaces/http/app.hpp"

// Who may ask for what. Each door has its own header, and asks for nothing when the configuration
// has no secret for it.
namespace sluice::http::deploy {

enum class Door {
    control,  // X-DEPLOY-SECRET: create, query, list and control jobs
    runners,  // Authorization: Bearer …: claim, heartbeat, report
    nodes,    // X-RT-Node-Token: heartbeats of runtime nodes
    admin,    // X-Admin-Token: runtime nodes and runners
};

// The refusal for a caller without what the door asks for; nothing when it may pass.
std::optional<Response> refuse_at(Door door, const Call& call);

// The handler behind its door.
template <Door door, void (*handler)(Call)>
void behind(Call call) {
    if (auto refusal = refuse_at(door, call)) return call.reply.send(*std::move(refusal));
    handler(std::move(call));
}

}  // namespace sluice::http::deploy
