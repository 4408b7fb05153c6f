#pragma once

#include <string>
#include <vector>

namespace sluice::simulation {

// The names by which jobs differ.
inline const std::vector<std::string> tenants{"acme", "umbrella"};
inline const std::vector<std::string> job_types{"build", "deploy"};
inline const std::vector<std::string> queues{"default", "slow"};
inline const std::vector<std::string> sources{"", "nightly", "push"};

}  // namespace sluice::simulation
