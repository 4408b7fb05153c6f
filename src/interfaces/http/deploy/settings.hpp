#pragma once

#include <string>
#include <vector>

#include "application/deploy/placement_rules.hpp"
#include "domain/time.hpp"

namespace sluice::http::deploy {

// The section [deploy] of the configuration.
struct Settings {
    std::string shared_secret{};  // asked for as X-DEPLOY-SECRET; empty: nobody is asked
    bool open_runners = false;    // runners need no token
    std::vector<std::string> runner_tokens{};  // any of these; none: runners are not asked
    std::string node_token{};                  // X-RT-Node-Token; empty: nodes are not asked
    std::string admin_token{};                 // X-Admin-Token; empty: nobody is asked
    bool requeue_lost = true;  // a job whose runner went silent is PENDING again; no: FAILED
    Duration max_running{};    // a job that runs longer has FAILED; zero: no limit
    Duration node_health = std::chrono::seconds(60);    // the age of a healthy node's heartbeat
    Duration runner_health = std::chrono::seconds(90);  // and of an online runner's last word
    // How a node is chosen for an app that is on none.
    sluice::deploy::PlacementStrategy placement = sluice::deploy::PlacementStrategy::hash;
    std::string
        agent_token{};  // shown to agents of nodes as X-Runtime-Token; empty: none is called
};

}  // namespace sluice::http::deploy
