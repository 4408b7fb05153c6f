#include <algorithm>

#include "domain/values/check.hpp"
#include "infrastructure/queue/ready_queue.hpp"

// How keys are kept exclusive. A job is parked only at a key that is held. When the key is freed,
// the first job of each lane that is parked there goes to the lane and leads the others: as long as
// it is in the lane and the key is free, none of them can be taken before it. When a leader is
// taken, the key is held again; when it is canceled or has to wait for another key, the next parked
// job becomes the leader.
namespace sluice {

ReadyQueue::Key& ReadyQueue::key_for(KeyName name) {
    const auto [found, added] = keys_.try_emplace(std::move(name));
    if (added) found->second.name = &found->first;
    return found->second;
}

ReadyQueue::KeyedJob& ReadyQueue::add_keyed(const JobSpec& spec) {
    const auto [found, added] = keyed_.try_emplace(spec.id);
    check(added, "a job with keys is queued once, and not while it holds them");
    std::vector<Key*>& keys = found->second.keys;
    for (std::string& name : held_keys(spec)) {
        Key& key = key_for({spec.tenant, std::move(name)});
        if (std::find(keys.begin(), keys.end(), &key) != keys.end()) continue;
        keys.push_back(&key);
        ++key.users;
    }
    return found->second;
}

void ReadyQueue::drop_keyed(JobId id) {
    const auto found = keyed_.find(id);
    for (Key* key : found->second.keys) {
        if (--key->users == 0) keys_.erase(keys_.find(*key->name));
    }
    keyed_.erase(found);
}

ReadyQueue::Key* ReadyQueue::first_held(const KeyedJob& job) {
    for (Key* key : job.keys) {
        if (key->holder) return key;
    }
    return nullptr;
}

void ReadyQueue::hold_keys(KeyedJob& job) {
    for (Key* key : job.keys) {
        check(!key->holder, "a key has one holder");
        key->holder = job.rank.id;
    }
    job.holds = true;
}

void ReadyQueue::park(KeyedJob& job, Key& key) {
    Parking& parking =
        key.waiting.try_emplace(job.lane, Parking{.parked = Ranks(&pool_)}).first->second;
    parking.parked.insert(parking.parked.end(), job.rank);
    job.at = &key;
    job.parked = true;
}

// Called when a job has left its lane: the jobs parked behind it get another leader.
void ReadyQueue::stop_leading(KeyedJob& job) {
    Key* key = std::exchange(job.at, nullptr);
    if (key == nullptr) return;
    const auto parking = key->waiting.find(job.lane);
    if (parking == key->waiting.end() || parking->second.leader != job.rank.id) return;
    parking->second.leader.reset();
    promote(*key, *job.lane);
}

// Sends the first job of the lane that is parked at the key to the lane, unless the key is held, or
// a job that comes before all parked ones is in the lane already. A job that needs another key that
// is held is parked there.
void ReadyQueue::promote(Key& key, LaneQueue& lane) {
    const auto found = key.waiting.find(&lane);
    if (key.holder || found == key.waiting.end()) return;
    Parking& parking = found->second;
    while (!parking.parked.empty()) {
        const Rank next = *parking.parked.begin();
        if (parking.leader && parking.leader_rank < next) return;
        parking.parked.erase(parking.parked.begin());
        KeyedJob& job = keyed_.at(next.id);
        if (Key* held = first_held(job)) {
            park(job, *held);
            continue;
        }
        job.parked = false;
        parking.leader = next.id;
        parking.leader_rank = next;
        enter_ready(lane, next);
        break;
    }
    if (parking.parked.empty()) key.waiting.erase(found);
}

void ReadyQueue::free_keys(JobId id) {
    const auto found = keyed_.find(id);
    if (found == keyed_.end() || !found->second.holds) return;
    const std::vector<Key*> keys = found->second.keys;
    for (Key* key : keys) key->holder.reset();
    for (Key* key : keys) {
        std::vector<LaneQueue*> lanes;
        for (const auto& [lane, parking] : key->waiting) lanes.push_back(lane);
        for (LaneQueue* lane : lanes) promote(*key, *lane);
    }
    drop_keyed(id);
}

std::optional<JobId> ReadyQueue::holder(const std::string& tenant, const std::string& key) const {
    const auto found = keys_.find({tenant, key});
    return found == keys_.end() ? std::nullopt : found->second.holder;
}

}  // namespace sluice
