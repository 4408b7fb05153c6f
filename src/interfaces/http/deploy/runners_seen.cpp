#include "interfaces/http/deploy/runners_seen.hpp"

#include <algorithm>

namespace sluice::http::deploy {

// A caller can send any number of names: when there are too many, the one that was seen longest ago
// is dropped.
void RunnersSeen::note(const std::string& runner_id, Timestamp now) {
    if (seen_.size() >= runners_max && !seen_.contains(runner_id)) {
        seen_.erase(std::min_element(seen_.begin(), seen_.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
        }));
    }
    seen_[runner_id] = now;
}

}  // namespace sluice::http::deploy
