#pragma once

#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "application/ports/store.hpp"
#include "domain/jobs/lane.hpp"
#include "infrastructure/queue/lane_permits.hpp"

namespace sluice {

// The jobs that may be claimed, in memory. A store that alone owns its data keeps one beside it,
// rebuilds it at the start, and tells it of every change. Not thread-safe: it belongs to the
// writing session.
//
// A queued job is in exactly one of these states:
//   lane      claimable now, in order of priority and age;
//   timed     its run_after has not come;
//   blocked   a job that it depends on has not ended;
//   parked    it needs a key that another job holds; it waits at that key.
// For each free key and each lane with jobs parked at that key, one of them (the first) is in the
// lane. So a freed key costs one move per lane, however many jobs wait for it, and a claim never
// walks over them.
//
// While there are rules about what may run, take() passes over lanes that they close; see
// LanePermits. A lane that was found closed is put aside, so that no claim walks over it until its
// meter may have room. Permits are asked before keys, and a job that is parked at a key needs none.
//
// Time does not go back: a job that was due at the `now` of one call is due in all later ones.
class ReadyQueue {
  public:
    ReadyQueue() = default;
    ReadyQueue(const ReadyQueue&) = delete;
    ReadyQueue& operator=(const ReadyQueue&) = delete;

    // Adds a queued job that becomes claimable at `run_after`, or once unblocked. Returns how many
    // jobs its lane has now.
    std::size_t add(const JobSpec& spec, Timestamp run_after, bool blocked);

    // Removes a queued job, wherever it is. False when it is not here.
    bool remove(const JobSpec& spec, Timestamp run_after);

    // Moves a blocked job on, to become claimable at `run_after`.
    void unblock(const JobSpec& spec, Timestamp run_after);

    // Queued jobs that are blocked by one of these, each once, in order of their ids.
    std::vector<JobId> dependents(std::span<const JobId> ended) const;

    // Takes up to `limit` jobs that the filter accepts; see LeaseStore::take. Their keys and
    // permits are held from now on.
    std::vector<JobId> take(const ClaimFilter& filter, int limit, Timestamp now);
    // The same for several claims, one after the other. Lanes are not walked again for a filter
    // that has found less than it wanted.
    std::vector<std::vector<JobId>> take(std::span<const LeaseStore::Wanted> wanted, Timestamp now);

    // Holds the keys and permits of a job that is leased already: for the rebuild at the start.
    void hold(const JobSpec& spec);

    // Gives back the keys and permits of a job that was taken. Does nothing when it holds none.
    void release(JobId id);

    std::optional<JobId> holder(const std::string& tenant, const std::string& key) const;

    // When the next timed job is due, or a closed lane may open by time alone, or `never`.
    Timestamp next_due() const;

    // How many jobs became claimable since the last call, including timed jobs that are due at
    // `now`; in order of the lanes. A job counts each time that it enters its lane, also when it
    // was taken since. Jobs of lanes that rules close do not count until their lanes open; then as
    // many as may start.
    std::vector<Readied> newly_ready(Timestamp now);

    // From now on these rules hold; what is leased counts. Lanes that were closed count as newly
    // ready if they are open.
    void set_rules(std::shared_ptr<const LimitRules> rules, Timestamp now);
    // After a rebuild: all lanes count as newly ready, since it is not known any more which ones
    // claims wait for. Does nothing without rules.
    void look_again();

    LanePermits& permits() { return permits_; }
    const LanePermits& permits() const { return permits_; }

    // Lanes with claimable jobs, counted up to `ready_max`, or leases.
    std::vector<LaneNow> lanes(std::int64_t ready_max) const;

    // Tenant and source of the jobs that are here or leased, as far as they have one.
    std::set<std::pair<std::string, std::string>> sources() const;

    // Compares the meters with these leases; `repair`: sets them right.
    std::vector<MeterDifference> check_meters(const std::map<Lane, std::int64_t>& leases,
                                              bool repair) {
        return permits_.check(leases, repair, now_);
    }

    std::vector<Depth> depths() const;
    std::size_t size() const { return size_; }
    // Lanes that a claim of everything walks over.
    std::size_t walked_lanes() const { return lanes_.size(); }

    // Forgets everything, also the time that it has seen and the counts of newly ready jobs.
    void clear();

  private:
    struct Rank {  // the order in a lane: higher priority first, then older
        JobId id;
        int priority = 0;
        bool has_keys = false;
        bool operator<(const Rank& other) const {
            return priority != other.priority ? priority > other.priority : id < other.id;
        }
    };
    using Ranks = std::pmr::set<Rank>;

    struct LaneQueue : LaneGate {
        explicit LaneQueue(std::pmr::memory_resource* pool) : ready(pool) {}

        Ranks ready;
        std::size_t queued = 0;  // in all states
        int readied = 0;         // how many entered `ready` since the last newly_ready()
    };
    struct LaneOrder {  // finds the lane of a spec without making a Lane of it
        using is_transparent = void;
        template <class A, class B>
        bool operator()(const A& a, const B& b) const {
            return std::tie(a.tenant, a.queue, a.type, a.labels, a.source) <
                   std::tie(b.tenant, b.queue, b.type, b.labels, b.source);
        }
    };
    struct Head {  // the first job of a lane, while a claim merges lanes
        Rank rank;
        LaneQueue* lane = nullptr;
    };
    struct Timed {
        LaneQueue* lane = nullptr;
        int priority = 0;
        bool has_keys = false;
    };

    using KeyName = std::pair<std::string, std::string>;  // tenant, key
    struct Parking {
        Ranks parked;
        std::optional<JobId>
            leader{};  // the last job that went from here to the lane, while it is there
        Rank leader_rank{};
    };
    struct Key {
        const KeyName* name = nullptr;
        std::optional<JobId> holder{};
        std::map<LaneQueue*, Parking> waiting{};
        std::size_t users = 0;  // keyed jobs that name it
    };
    struct KeyedJob {  // a queued or taken job with keys
        LaneQueue* lane = nullptr;
        Rank rank{};
        std::vector<Key*> keys{};
        Key* at = nullptr;  // the key at which it is parked, or was parked last
        bool parked = false;
        bool holds = false;
    };
    using Timers = std::pmr::map<std::pair<Timestamp, JobId>, Timed>;

    LaneQueue* find_lane(const JobSpec& spec);
    LaneQueue& lane_for(const JobSpec& spec);
    void drop_if_empty(LaneQueue& lane);
    void depart(LaneQueue& lane);
    bool take_out(LaneQueue& lane, const Rank& rank, const JobSpec& spec, Timestamp run_after);
    void schedule(LaneQueue& lane, const Rank& rank, const JobSpec& spec, Timestamp run_after);
    void release_due(Timestamp now);
    void enter(LaneQueue& lane, const Rank& rank);
    void enter_ready(LaneQueue& lane, const Rank& rank);

    bool may_start(LaneQueue& lane);
    std::vector<Head> heads_of(const ClaimFilter& filter);
    template <class Within>
    void gather_heads(const ClaimFilter& filter, const Lane& from, Within&& within,
                      std::vector<Head>& heads);
    void put_back(LaneQueue& lane);
    void put_all_back();
    template <class Visit>
    void for_each_lane(Visit&& visit) const;
    bool take_head(LaneQueue& lane);
    void lease(LaneQueue& lane, JobId id);
    void add_opened();

    Key& key_for(KeyName name);
    KeyedJob& add_keyed(const JobSpec& spec);
    void drop_keyed(JobId id);
    static Key* first_held(const KeyedJob& job);
    static void hold_keys(KeyedJob& job);
    void free_keys(JobId id);
    void park(KeyedJob& job, Key& key);
    void stop_leading(KeyedJob& job);
    void promote(Key& key, LaneQueue& lane);

    // A million waiting jobs are a million nodes of one size: the pool packs them.
    std::pmr::unsynchronized_pool_resource pool_;
    using Lanes = std::map<Lane, LaneQueue, LaneOrder>;
    Lanes lanes_;
    Lanes aside_;  // those that wait with a meter and that no claim walks over
    std::vector<LaneQueue*> readied_;
    Timers timed_{&pool_};
    std::unordered_set<JobId> blocked_;
    std::set<std::pair<JobId, JobId>> blocks_;  // a job, and one that is blocked by it
    std::unordered_map<JobId, KeyedJob> keyed_;
    std::map<KeyName, Key> keys_;
    LanePermits permits_;
    std::unordered_map<JobId, LaneQueue*> leased_;
    std::size_t size_ = 0;
    Timestamp now_ = Timestamp::min();
};

}  // namespace sluice
