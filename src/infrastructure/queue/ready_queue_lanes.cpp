#include "infrastructure/queue/ready_queue.hpp"

#include <algorithm>

// The lanes of the queue: those that claims walk over, and those that are put aside.
namespace sluice {

ReadyQueue::LaneQueue* ReadyQueue::find_lane(const JobSpec& spec) {
    for (Lanes* lanes : {&lanes_, &aside_}) {
        const auto found = lanes->find(spec);
        if (found != lanes->end()) return &found->second;
    }
    return nullptr;
}

ReadyQueue::LaneQueue& ReadyQueue::lane_for(const JobSpec& spec) {
    if (LaneQueue* known = find_lane(spec)) return *known;
    const auto made = lanes_.try_emplace(lane_of(spec), &pool_).first;
    made->second.name = &made->first;
    return made->second;
}

// Lane names come from clients; an unused lane must not stay.
void ReadyQueue::drop_if_empty(LaneQueue& lane) {
    if (lane.queued > 0 || lane.readied > 0 || lane.active > 0) return;
    permits_.drop(lane);
    Lanes& lanes = lane.is_aside ? aside_ : lanes_;
    lanes.erase(lanes.find(*lane.name));
}

void ReadyQueue::put_back(LaneQueue& lane) {
    lane.is_aside = false;
    lanes_.insert(aside_.extract(*lane.name));
}

void ReadyQueue::put_all_back() {
    for (auto& [name, lane] : aside_) lane.is_aside = false;
    lanes_.merge(aside_);
}

template <class Visit>
void ReadyQueue::for_each_lane(Visit&& visit) const {
    for (const Lanes* lanes : {&lanes_, &aside_}) {
        for (const auto& [name, lane] : *lanes) visit(name, lane);
    }
}

std::vector<LaneNow> ReadyQueue::lanes(std::int64_t ready_max) const {
    std::vector<LaneNow> result;
    for_each_lane([&](const Lane& name, const LaneQueue& lane) {
        if (lane.ready.empty() && lane.active == 0) return;
        result.push_back({.lane = name,
                          .ready = std::min(std::ssize(lane.ready), ready_max),
                          .active = lane.active});
    });
    return result;
}

std::set<std::pair<std::string, std::string>> ReadyQueue::sources() const {
    std::set<std::pair<std::string, std::string>> result;
    for_each_lane([&](const Lane& name, const LaneQueue& lane) {
        const bool is_used = lane.queued > 0 || lane.active > 0;
        if (is_used && !name.source.empty()) result.emplace(name.tenant, name.source);
    });
    return result;
}

std::vector<Depth> ReadyQueue::depths() const {
    std::vector<Depth> result;
    for_each_lane([&](const Lane& name, const LaneQueue& lane) {
        if (lane.queued == 0) return;
        result.push_back({.lane = name, .queued = static_cast<std::int64_t>(lane.queued)});
    });
    return result;
}

}  // namespace sluice
