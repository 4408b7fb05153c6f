#pragma once

#include <string>
#include <vector>

#include "application/deploy/placement_rules.hpp"
#include "domain/values/time.hpp"

namespace sluice::http::deploy {

// The section [deploy] of the configuration.
struct Settings {
    std::string shared_secret{};               // asked for as X-DEPLOY-SECRET; empty: not asked for
    bool open_runners = false;                 // runners need no token
    std::vector<std::string> runner_tokens{};  // any of these; none: not asked for
    std::string node_token{};                  // X-RT-Node-Token; empty: not asked for
    std::string admin_token{};                 // X-Admin-Token; empty: not asked for
    bool requeue_lost = true;  // a job whose runner went silent is PENDING again; no: FAILED
    Duration max_running{};    // a job that runs longer has FAILED; zero: no limit
    Duration node_health = std::chrono::seconds(60);    // the age of a healthy node's heartbeat
    Duration runner_health = std::chrono::seconds(90);  // and of an online runner's last request
    // The choice of a node for an app that is on none.
    sluice::deploy::PlacementStrategy placement = sluice::deploy::PlacementStrategy::hash;
    std::string
        agent_token{};  // shown to agents of nodes as X-Runtime-Token; empty: none is called
};

}  // namespace sluice::http::deploy
