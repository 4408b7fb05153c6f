#include "simulation/timeline.hpp"

#include <algorithm>

namespace sluice::simulation {

void Timeline::at(Timestamp moment, std::function<void()> what) {
    heap_.push_back({std::max(moment, now_), dice_.number(), std::move(what)});
    std::push_heap(heap_.begin(), heap_.end());
}

bool Timeline::step(Timestamp end) {
    if (heap_.empty() || heap_.front().moment > end) return false;
    std::pop_heap(heap_.begin(), heap_.end());
    const Entry entry = std::move(heap_.back());
    heap_.pop_back();
    now_ = entry.moment;
    entry.what();
    return true;
}

}  // namespace sluice::simulation
