#include "infrastructure/queue/ready_queue.hpp"

#include <algorithm>

#include "domain/values/check.hpp"

// How keys are kept exclusive. A job is parked only at a key that is held. When the key is freed,
// the first job of each lane that is parked there goes to the lane and leads the others: as long as
// it is in the lane and the key is free, none of them can be taken before it. When a leader is
// taken, the key is held again; when it is canceled or has to wait for another key, the next parked
// job becomes the leader.
namespace sluice {

// ── lanes ──

ReadyQueue::LaneQueue& ReadyQueue::lane_for(const JobSpec& spec) {
    auto found = lanes_.find(spec);
    if (found == lanes_.end()) {
        found = lanes_.emplace(lane_of(spec), LaneQueue{.ready = Ranks(&pool_)}).first;
        found->second.name = &found->first;
    }
    return found->second;
}

// Lane names come from clients; an unused lane must not stay.
void ReadyQueue::drop_if_empty(LaneQueue& lane) {
    if (lane.queued == 0 && lane.readied == 0) lanes_.erase(lanes_.find(*lane.name));
}

void ReadyQueue::depart(LaneQueue& lane) {
    --lane.queued;
    --size_;
}

void ReadyQueue::enter_ready(LaneQueue& lane, const Rank& rank) {
    const std::size_t before = lane.ready.size();
    lane.ready.insert(lane.ready.end(), rank);  // ids increase, so most ranks go to the end
    check(lane.ready.size() == before + 1, "a job is queued once");
    if (lane.readied++ == 0) readied_.push_back(&lane);
}

void ReadyQueue::enter(LaneQueue& lane, const Rank& rank) {
    if (rank.has_keys) {
        KeyedJob& job = keyed_.at(rank.id);
        if (Key* held = first_held(job)) {
            park(job, *held);
            return;
        }
    }
    enter_ready(lane, rank);
}

// ── arrivals, times and dependencies ──

std::size_t ReadyQueue::add(const JobSpec& spec, Timestamp run_after, bool blocked) {
    LaneQueue& lane = lane_for(spec);
    ++lane.queued;
    ++size_;
    Rank rank{.id = spec.id, .priority = spec.priority};
    if (!spec.exclusive_keys.empty() || !spec.site_id.empty() || !spec.node_id.empty()) {
        rank.has_keys = true;
        KeyedJob& job = add_keyed(spec);
        job.lane = &lane;
        job.rank = rank;
    }
    if (blocked) {
        check(blocked_.insert(spec.id).second, "a job is queued once");
        for (const JobId dependency : spec.depends_on) blocks_.emplace(dependency, spec.id);
    } else {
        schedule(lane, rank, spec, run_after);
    }
    return lane.queued;
}

void ReadyQueue::unblock(const JobSpec& spec, Timestamp run_after) {
    check(blocked_.erase(spec.id) == 1, "only a blocked job is unblocked");
    for (const JobId dependency : spec.depends_on) blocks_.erase({dependency, spec.id});
    const bool has_keys = keyed_.contains(spec.id);
    schedule(lane_for(spec), {.id = spec.id, .priority = spec.priority, .has_keys = has_keys}, spec,
             run_after);
}

// A job that is due goes to its lane at once, since a million timers would cost more than a million
// ranks. The present time is not known here, but it is not before the job was created. A retry
// waits for its time all the same: the clock may have been set back since the job was created.
void ReadyQueue::schedule(LaneQueue& lane, const Rank& rank, const JobSpec& spec,
                          Timestamp run_after) {
    const bool was_moved = run_after != spec.run_after;
    if (run_after <= (was_moved ? now_ : std::max(now_, spec.created_at))) {
        enter(lane, rank);
        return;
    }
    const Timed timer{.lane = &lane, .priority = rank.priority, .has_keys = rank.has_keys};
    check(timed_.try_emplace({run_after, rank.id}, timer).second, "a job is queued once");
}

void ReadyQueue::release_due(Timestamp now) {
    now_ = std::max(now_, now);
    while (!timed_.empty() && timed_.begin()->first.first <= now_) {
        const auto [key, timer] = *timed_.begin();
        timed_.erase(timed_.begin());
        enter(*timer.lane,
              {.id = key.second, .priority = timer.priority, .has_keys = timer.has_keys});
    }
}

std::vector<JobId> ReadyQueue::dependents(std::span<const JobId> ended) const {
    std::set<JobId> found;
    for (const JobId id : ended) {
        for (auto row = blocks_.lower_bound({id, JobId{INT64_MIN}});
             row != blocks_.end() && row->first == id; ++row) {
            found.insert(row->second);
        }
    }
    return {found.begin(), found.end()};
}

bool ReadyQueue::remove(const JobSpec& spec, Timestamp run_after) {
    const auto found = lanes_.find(spec);
    if (found == lanes_.end()) return false;
    LaneQueue& lane = found->second;
    const Rank rank{.id = spec.id, .priority = spec.priority};
    if (!take_out(lane, rank, spec, run_after)) return false;

    if (const auto keyed = keyed_.find(spec.id); keyed != keyed_.end()) {
        stop_leading(keyed->second);
        drop_keyed(spec.id);
    }
    depart(lane);
    drop_if_empty(lane);
    return true;
}

bool ReadyQueue::take_out(LaneQueue& lane, const Rank& rank, const JobSpec& spec,
                          Timestamp run_after) {
    if (lane.ready.erase(rank) == 1 || timed_.erase({run_after, rank.id}) == 1) return true;
    if (blocked_.erase(rank.id) == 1) {
        for (const JobId dependency : spec.depends_on) blocks_.erase({dependency, rank.id});
        return true;
    }
    const auto keyed = keyed_.find(rank.id);
    if (keyed == keyed_.end() || !keyed->second.parked) return false;

    KeyedJob& job = keyed->second;
    const auto parking = job.at->waiting.find(&lane);
    parking->second.parked.erase(rank);
    if (parking->second.parked.empty()) job.at->waiting.erase(parking);
    job.at = nullptr;
    return true;
}

// ── claims ──

std::vector<ReadyQueue::Head> ReadyQueue::heads_of(const ClaimFilter& filter) {
    std::vector<Head> heads;
    const auto gather = [&](const Lane& from, auto within) {
        for (auto lane = lanes_.lower_bound(from); lane != lanes_.end() && within(lane->first);
             ++lane) {
            if (!lane->second.ready.empty() && filter.accepts(lane->first)) {
                heads.push_back({*lane->second.ready.begin(), &lane->second});
            }
        }
    };
    if (filter.any_tenant) {
        gather({"", "", ""}, [](const Lane&) { return true; });
        return heads;
    }
    const auto of_tenant = [&](const Lane& lane) { return lane.tenant == filter.tenant; };
    if (filter.queues.empty()) gather({filter.tenant, "", ""}, of_tenant);
    for (const std::string& queue : filter.queues) {
        const auto of_queue = [&](const Lane& lane) {
            return of_tenant(lane) && lane.queue == queue;
        };
        if (filter.types.empty()) gather({filter.tenant, queue, ""}, of_queue);
        for (const std::string& type : filter.types) {
            gather({filter.tenant, queue, type},
                   [&](const Lane& lane) { return of_queue(lane) && lane.type == type; });
        }
    }
    return heads;
}

std::vector<JobId> ReadyQueue::take(const ClaimFilter& filter, int limit, Timestamp now) {
    release_due(now);
    std::vector<Head> heads = heads_of(filter);
    const auto later = [](const Head& a, const Head& b) { return b.rank < a.rank; };
    std::make_heap(heads.begin(), heads.end(), later);

    // Only the lane in hand changes: a claim holds keys but frees none, so no job is promoted
    // elsewhere.
    std::vector<JobId> taken;
    while (!heads.empty() && std::ssize(taken) < limit) {
        std::pop_heap(heads.begin(), heads.end(), later);
        const auto [rank, lane] = heads.back();
        heads.pop_back();
        if (take_head(*lane)) taken.push_back(rank.id);
        if (!lane->ready.empty()) {
            heads.push_back({*lane->ready.begin(), lane});
            std::push_heap(heads.begin(), heads.end(), later);
        } else {
            drop_if_empty(*lane);
        }
    }
    return taken;
}

// Takes the first job of the lane, or parks it when it needs a key that is held.
bool ReadyQueue::take_head(LaneQueue& lane) {
    const Rank rank = *lane.ready.begin();
    lane.ready.erase(lane.ready.begin());
    if (rank.has_keys) {
        KeyedJob& job = keyed_.at(rank.id);
        if (Key* held = first_held(job)) {
            stop_leading(job);
            park(job, *held);
            return false;
        }
        hold(job);
        stop_leading(job);
        job.lane = nullptr;
    }
    depart(lane);
    return true;
}

std::vector<Readied> ReadyQueue::newly_ready(Timestamp now) {
    release_due(now);
    std::vector<Readied> result;
    result.reserve(readied_.size());
    for (LaneQueue* lane : readied_) {
        result.push_back({.lane = *lane->name, .count = std::exchange(lane->readied, 0)});
        drop_if_empty(*lane);
    }
    readied_.clear();
    std::sort(result.begin(), result.end(),
              [](const Readied& a, const Readied& b) { return a.lane < b.lane; });
    return result;
}

Timestamp ReadyQueue::next_due() const {
    return timed_.empty() ? never : timed_.begin()->first.first;
}

std::vector<Depth> ReadyQueue::depths() const {
    std::vector<Depth> result;
    for (const auto& [name, lane] : lanes_) {
        if (lane.queued == 0) continue;
        result.push_back({.lane = name, .queued = static_cast<std::int64_t>(lane.queued)});
    }
    return result;
}

void ReadyQueue::clear() {
    readied_.clear();
    keyed_.clear();
    keys_.clear();
    blocks_.clear();
    blocked_.clear();
    timed_.clear();
    lanes_.clear();
    pool_.release();
    size_ = 0;
    now_ = Timestamp::min();
}

// ── keys ──

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

void ReadyQueue::hold(KeyedJob& job) {
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

void ReadyQueue::hold_keys(const JobSpec& spec) {
    if (held_keys(spec).empty()) return;
    KeyedJob& job = add_keyed(spec);
    job.rank = {.id = spec.id, .priority = spec.priority, .has_keys = true};
    hold(job);
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
