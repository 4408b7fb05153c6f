#include "infrastructure/queue/ready_queue.hpp"

#include <algorithm>

#include "domain/values/check.hpp"

namespace sluice {

// ── lanes ──

void ReadyQueue::depart(LaneQueue& lane) {
    --lane.queued;
    --size_;
}

void ReadyQueue::enter_ready(LaneQueue& lane, const Rank& rank) {
    const std::size_t before = lane.ready.size();
    lane.ready.insert(lane.ready.end(), rank);  // ids increase, so most ranks go to the end
    check(lane.ready.size() == before + 1, "a job is queued once");
    if (lane.readied++ == 0) readied_.push_back(&lane);
    if (lane.is_aside && lane.held_by == nullptr) put_back(lane);
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
    LaneQueue* const queued_in = find_lane(spec);
    if (queued_in == nullptr) return false;
    LaneQueue& lane = *queued_in;
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

bool ReadyQueue::may_start(LaneQueue& lane) {
    return !permits_.are_there_rules() || permits_.is_open(lane, now_);
}

// Lanes that are found closed are put aside.
template <class Within>
void ReadyQueue::gather_heads(const ClaimFilter& filter, const Lane& from, Within&& within,
                              std::vector<Head>& heads) {
    for (auto next = lanes_.lower_bound(from); next != lanes_.end() && within(next->first);) {
        const auto at = next++;
        LaneQueue& lane = at->second;
        if (lane.ready.empty() || !filter.accepts(at->first)) continue;
        if (may_start(lane)) {
            heads.push_back({*lane.ready.begin(), &lane});
        } else {
            lane.is_aside = true;
            aside_.insert(lanes_.extract(at));
        }
    }
}

std::vector<ReadyQueue::Head> ReadyQueue::heads_of(const ClaimFilter& filter) {
    std::vector<Head> heads;
    if (!aside_.empty()) {
        for (LaneGate* gate : permits_.aside_but_maybe_open(now_)) {
            auto& lane = static_cast<LaneQueue&>(*gate);
            if (!lane.ready.empty() && filter.accepts(*lane.name) && may_start(lane)) {
                heads.push_back({*lane.ready.begin(), &lane});
            }
        }
    }
    const auto gather = [&](const Lane& from, auto within) {
        gather_heads(filter, from, within, heads);
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

    // Of the queue only the lane in hand changes: a claim holds keys but frees none, so no job is
    // promoted elsewhere. But a start may close any lane that shares a meter.
    std::vector<JobId> taken;
    while (!heads.empty() && std::ssize(taken) < limit) {
        std::pop_heap(heads.begin(), heads.end(), later);
        const auto [rank, lane] = heads.back();
        heads.pop_back();
        if (!may_start(*lane)) continue;
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

std::vector<std::vector<JobId>> ReadyQueue::take(std::span<const LeaseStore::Wanted> wanted,
                                                 Timestamp now) {
    std::vector<std::vector<JobId>> taken;
    taken.reserve(wanted.size());
    std::vector<const ClaimFilter*> exhausted;
    for (const auto& [filter, limit] : wanted) {
        const bool is_exhausted = std::any_of(exhausted.begin(), exhausted.end(),
                                              [&](const auto* other) { return *other == *filter; });
        taken.push_back(is_exhausted ? std::vector<JobId>() : take(*filter, limit, now));
        if (!is_exhausted && std::ssize(taken.back()) < limit) exhausted.push_back(filter);
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
        hold_keys(job);
        stop_leading(job);
        job.lane = nullptr;
    }
    depart(lane);
    lease(lane, rank.id);
    if (permits_.are_there_rules()) permits_.start(lane, now_);
    return true;
}

// ── leases ──

void ReadyQueue::lease(LaneQueue& lane, JobId id) {
    check(leased_.try_emplace(id, &lane).second, "a job has one lease");
    ++lane.active;
}

void ReadyQueue::hold(const JobSpec& spec) {
    LaneQueue& lane = lane_for(spec);
    lease(lane, spec.id);
    if (permits_.are_there_rules()) permits_.add_leases(lane, 1, now_);
    if (held_keys(spec).empty()) return;
    KeyedJob& job = add_keyed(spec);
    job.rank = {.id = spec.id, .priority = spec.priority, .has_keys = true};
    hold_keys(job);
}

// A permit is given back exactly once: with the entry in `leased_`.
void ReadyQueue::release(JobId id) {
    const auto found = leased_.find(id);
    if (found == leased_.end()) return;
    LaneQueue& lane = *found->second;
    leased_.erase(found);
    free_keys(id);
    if (permits_.are_there_rules()) permits_.end(lane, now_);
    --lane.active;
    drop_if_empty(lane);
}

// ── what became claimable ──

void ReadyQueue::add_opened() {
    const auto ready_of = [](const LaneGate& lane) {
        return static_cast<const LaneQueue&>(lane).ready.size();
    };
    for (const auto& [gate, count] : permits_.opened(now_, ready_of)) {
        auto& lane = static_cast<LaneQueue&>(*gate);
        if (lane.is_aside) put_back(lane);
        if (lane.readied == 0) readied_.push_back(&lane);
        const auto shown = static_cast<int>(std::min<std::int64_t>(count, INT32_MAX));
        lane.readied = std::max(lane.readied, shown);
    }
}

std::vector<Readied> ReadyQueue::newly_ready(Timestamp now) {
    release_due(now);
    add_opened();
    std::vector<Readied> result;
    result.reserve(readied_.size());
    for (LaneQueue* lane : readied_) {
        const int count = std::exchange(lane->readied, 0);
        const bool is_closed = !lane->ready.empty() && !may_start(*lane);
        if (!is_closed) result.push_back({.lane = *lane->name, .count = count});
        drop_if_empty(*lane);
    }
    readied_.clear();
    std::sort(result.begin(), result.end(),
              [](const Readied& a, const Readied& b) { return a.lane < b.lane; });
    return result;
}

Timestamp ReadyQueue::next_due() const {
    const Timestamp due = timed_.empty() ? never : timed_.begin()->first.first;
    return std::min(due, permits_.next_look());
}

void ReadyQueue::set_rules(std::shared_ptr<const LimitRules> rules, Timestamp now) {
    put_all_back();
    permits_.set_rules(std::move(rules), now);
    if (!permits_.are_there_rules()) return;
    for (auto& [name, lane] : lanes_) {
        if (lane.active > 0) permits_.add_leases(lane, lane.active, now);
    }
}

void ReadyQueue::look_again() {
    if (!permits_.are_there_rules()) return;
    put_all_back();
    for (auto& [name, lane] : lanes_) {
        if (!lane.ready.empty()) permits_.look_again(lane);
    }
}

void ReadyQueue::clear() {
    readied_.clear();
    leased_.clear();
    permits_.clear();
    keyed_.clear();
    keys_.clear();
    blocks_.clear();
    blocked_.clear();
    timed_.clear();
    lanes_.clear();
    aside_.clear();
    pool_.release();
    size_ = 0;
    now_ = Timestamp::min();
}

}  // namespace sluice
