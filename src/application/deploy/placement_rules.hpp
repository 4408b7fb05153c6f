#pragma once

#include <chrono>

#include "domain/values/time.hpp"

namespace sluice::deploy {

// How a node is chosen for an app that is on none.
enum class PlacementStrategy {
    hash,        // of the app's id
    disk_aware,  // the node with the most free disk
};

// The operator's settings about runtime nodes.
struct PlacementRules {
    PlacementStrategy strategy = PlacementStrategy::hash;
    Duration node_memory = std::chrono::seconds(60);  // the age of a healthy node's last heartbeat
};

}  // namespace sluice::deploy
