#pragma once

#include <string>

namespace sluice {

// Who asks.
struct Caller {
    std::string tenant = "default";
    std::string name{};     // as members of apps are named; empty: the operator of this machine
    bool is_admin = false;  // may do everything
};

// How history names them.
std::string actor_name(const Caller& caller);

}  // namespace sluice
