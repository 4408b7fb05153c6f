#include "simulation/world.hpp"

#include <algorithm>

namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;

constexpr int clients = 3;
constexpr int workers = 5;
constexpr Duration healing_time = 6h;  // of virtual time, within which everything must end

}  // namespace

World::World(Disk& disk, WorldOptions options)
    : options_(options),
      dice_(options.seed),
      timeline_(at(0), dice_),
      chaos_end_(at(0) + options.chaos),
      weather_(options.calm ? Weather::calm() : Weather::drawn_by(dice_)),
      checker_(coverage_),
      clock_dice_(~options.seed),
      around_{timeline_,
              dice_,
              weather_,
              disk,
              coverage_,
              *this,
              [this] { return timeline_.now() + clock_off_; }},
      limit_dice_(options.seed * 0x9E3779B97F4A7C15u + 1),
      has_limits_(limit_dice_.below(4) != 0) {
    if (disk.is_shared()) checker_.use(disk.reader());
    const int nodes = disk.is_shared() && !options.calm ? 1 + dice_.below(3) : 1;
    // While nodes follow a database's clock that was set, each may be off by 300 ms.
    const Duration nodes_differ_by = weather_.clock_steps == 0 ? clocks_differ_by : 700ms;
    checker_.limits().let_clocks_differ_by(nodes > 1 ? nodes_differ_by : Duration{});
    const int committers = disk.is_shared() && !options.calm ? 1 + dice_.below(2) : 1;
    // Nodes that share a database go on evenly when its clock is set. A single node goes by its
    // machine's clock: when it starts after that was set, its store gives all leases a new term.
    checker_.expect_times_in_order(weather_.clock_steps == 0 || disk.is_shared());
    // The age of a job is judged by a clock that is never set.
    if (!options.calm && weather_.clock_steps == 0 && options.seed % 4 == 0) {
        retention_ = 5s + 1s * static_cast<int>(options.seed / 4 % 20);
        around_.retention = Retention(retention_);
    }
    ledger_.hear_of_removals(checker_.removed());
    for (int i = 0; i < nodes; ++i) {
        nodes_.push_back(std::make_unique<Node>(around_, i, committers));
    }
    sites_ = dice_.one_in(2) ? 2 : 0;
    for (int i = 0; i < clients; ++i) actors_.push_back(client(i));
    for (int i = 0; i < workers; ++i) actors_.push_back(worker(i));
    actors_.push_back(kill_nodes());
    actors_.push_back(fill_the_disk());
    actors_.push_back(set_clocks());
    actors_.push_back(tick());
    actors_.push_back(watch_the_time());
    if (has_limits_) actors_.push_back(operate());
    if (disk.is_shared()) actors_.push_back(keep_time());
}

World::~World() = default;

void World::play() {
    for (Task<void>& actor : actors_) actor.start();
    try {
        while (timeline_.step(chaos_end_)) {
        }
        heal();
        checker_.look_at_all(last_removal());
        checker_.look_at_the_end();
        ledger_.look_at_the_end(checker_);
    } catch (const Violation& violation) {
        const Duration time = timeline_.now() - at(0);
        throw Violation("after " + std::to_string(to_millis(time)) + " ms: " + violation.what());
    }
}

void World::heal() {
    weather_ = Weather::calm();
    around_.disk_is_full = false;
    trouble();
    for (const auto& node : nodes_) {
        if (!node->is_up()) node->boot();
    }
    const Timestamp end = timeline_.now() + healing_time;
    while (!checker_.all_settled()) {
        if (timeline_.step(end)) continue;
        throw Violation("not everything has finished: " + checker_.open_jobs());
    }
    if (has_limits_) audit_the_end();
}

// Jobs that ended before this may have been removed by now.
std::optional<Timestamp> World::last_removal() const {
    if (retention_ == Duration{}) return std::nullopt;
    return timeline_.now() + clock_off_ - retention_;
}

bool World::is_alone() const {
    return nodes_.size() == 1 && nodes_.front()->committers() == 1;
}

// A claim that is decided alone gets the very job that is first in order. (By the clock of another
// node a job may be due that this node would let wait.)
void World::before(Node& node, Batch& batch) {
    expected_.reset();
    if (nodes_.size() > 1) return;
    if (timeline_.now() < last_trouble_ + 2s) return;  // it may have to deal with overdue jobs
    const bool alone = batch.claims.size() == 1 && batch.size() == 1 &&
                       batch.claims.front().items.front().limit == 1 && node.parked().empty() &&
                       std::min(node.next_due(), batch.look_at) > node.now();
    if (!alone) return;
    checker_.limits().set_time(node.now());
    const ClaimFilter& filter = batch.claims.front().items.front().filter;
    const Job* first = checker_.first_claimable(filter, node.now(), false);
    if (first != checker_.first_claimable(filter, node.now(), true)) return;  // it is not certain
    if (first != nullptr && moves_site(first->spec)) return;  // its site may not allow it
    expected_ = first == nullptr ? JobId{} : first->spec->id;
}

void World::check_order(Batch& batch) {
    const auto expected = std::exchange(expected_, std::nullopt);
    if (!expected) return;
    JobId got{};
    if (!batch.claims.empty()) {  // waiting claims have left the batch
        const auto& answer = batch.claims.front().answers.front();
        if (!answer && answer.error().code == ErrorCode::store_full) return;
        demand(static_cast<bool>(answer), "a claim was refused without need");
        if (!answer->empty()) got = answer->front().spec->id;
    }
    const auto name = [&](JobId id) {
        return id == JobId{} ? "nothing" : describe(*checker_.reader().find_one(id));
    };
    if (got != *expected) {
        throw Violation("a claim got " + name(got) + ", and first was " + name(*expected));
    }
}

// When the run has failed, its writes are unknown.
void World::look_at(Node& node, const Batch& batch, const Engine::Ran& ran) {
    checker_.limits().set_time(node.now());
    const auto& duties = ran.counts.duties;
    const bool may_have_lifted = std::any_of(duties.begin(), duties.end(), [](const DutyRun& run) {
        return run.duty == duty::ended_rules.name;
    });
    if (may_have_lifted || !batch.limit_changes.empty()) checker_.read_rules();
    if (ran.counts.has_failed() || ++looks_ % 32 == 0) {
        checker_.look_at_all(last_removal());
    } else {
        checker_.look_at(ran.touched, last_removal());
    }
}

void World::after(Node& node, Batch& batch, const Engine::Ran& ran) {
    look_at(node, batch, ran);
    if (ran.counts.has_failed()) {
        trouble();
        return expected_.reset();
    }
    if (ran.counts.space != StoreSpace::ample) trouble();  // leases may wait for their time
    check_answers(batch);
    check_order(batch);
    announce(node, ran.news);
    check_waiting(node, node.now());
    const bool was_calm = timeline_.now() > last_trouble_ + 15s;
    if (!was_calm) return;
    // Heartbeats leave no events, so a job that looks overdue is read again.
    const Job* overdue = checker_.overdue(node.now(), 10s);
    if (overdue != nullptr) checker_.look_at_all(last_removal());
    overdue = checker_.overdue(node.now(), 10s);
    demand(overdue == nullptr, "nobody has dealt with the lease or deadline of ",
           overdue ? describe(*overdue) : "");
}

// With only one committer, no change that it does not know can make a job claimable.
void World::check_waiting(Node& node, Timestamp now) {
    const bool was_calm = timeline_.now() > last_trouble_ + 2s;  // after a failure it waits a while
    // After a lift of its own the engine looks at waiting claims in its next turn, which comes at
    // once.
    const bool is_to_look = node.next_due() <= now;
    if (!is_alone() || !was_calm || is_to_look) return;
    demand(node.waiting_claims() == node.parked().size(), "a waiting claim was lost");
    for (const auto& [ticket, filter] : node.parked()) {
        const Job* job = checker_.first_claimable(filter, now, false);
        demand(job == nullptr || moves_site(job->spec),
               "a claim waits for what can be claimed: ", job ? describe(*job) : "");
    }
}

// Hints may be lost, but only until the nodes look for work the next time.
void World::check_patience() {
    constexpr int looks_max = 3;
    const bool was_calm = timeline_.now() > last_trouble_ + 2s * looks_max;
    const auto before = std::exchange(overlooked_, {});
    if (!was_calm) return;
    for (const auto& node : nodes_) {
        for (const auto& [ticket, filter] : node->parked()) {
            const Job* job = checker_.first_claimable(filter, node->now(), false);
            if (job == nullptr || moves_site(job->spec)) continue;
            const auto known = before.find(job->spec->id);
            const int looks = known == before.end() ? 1 : known->second + 1;
            demand(looks < looks_max, "a claim waits for long for what can be claimed: ", *job);
            overlooked_[job->spec->id] = looks;
        }
    }
}

void World::announce(const Node& from, const Announcement& news) {
    if (news.readied.empty() && news.due == never) return;
    for (const auto& node : nodes_) {
        if (node.get() == &from && from.committers() == 1) continue;
        if (node.get() != &from && happens(weather_.hints_lost)) {
            coverage_.fault("hint lost");
            continue;
        }
        timeline_.after(node.get() == &from ? Duration(0) : travel_time(),
                        [to = node.get(), news] { to->hint(news.readied, news.due); });
    }
}

void World::died(Node& node) {
    expected_.reset();
    trouble();
    checker_.limits().set_time(node.now());
    if (around_.disk.is_shared()) {
        if (has_limits_) checker_.read_rules();
        checker_.look_at_all(last_removal());
        undo_unseen_step();
    }
    restart_later(node);
}

bool World::any_is_up() const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [](const auto& node) { return node->is_up(); });
}

Timestamp World::client_time() const {
    return timeline_.now() + (around_.disk.is_shared() ? Duration{} : clock_off_);
}

void World::restart_later(Node& node) {
    timeline_.after(1ms * dice_.below(dice_.one_in(4) ? 20'000 : 1500), [this, &node] {
        if (!node.is_up()) node.boot();
    });
}

void World::booted(Node& node) {
    trouble();
    if (has_limits_) audit(node);
    if (around_.disk.is_shared()) return check_time(node);
    checker_.use(around_.disk.reader());
    if (has_limits_) checker_.read_rules();
    checker_.look_at_all(last_removal());
    checker_.limits().set_time(node.now());
}

Digest World::hash() {
    return sha256(checker_.history_hash(), bytes_of(answers_));
}

Duration World::travel_time() {
    if (happens(weather_.late)) return 1s + 1ms * dice_.below(15'000);
    return 50us + 1us * dice_.below(3000);
}

}  // namespace sluice::simulation
