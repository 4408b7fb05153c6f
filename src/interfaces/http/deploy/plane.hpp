#pragma once

#include "interfaces/http/deploy/runners_seen.hpp"
#include "interfaces/http/deploy/settings.hpp"

namespace sluice::http::deploy {

class AgentCalls;

// The part of this contract in App. Lives on the I/O thread.
struct Plane {
    Settings settings{};
    AgentCalls* agents = nullptr;  // none: agents of runtime nodes are not called
    RunnersSeen runners_seen{};
};

}  // namespace sluice::http::deploy
