#include <algorithm>

#include "simulation/world.hpp"

// Faults of nodes from outside, and the periodic work of shared stores.
namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;

Duration within_a_minute(Dice& dice, int times) {
    return 1ms * dice.below(2 * 60'000 / times);
}

}  // namespace

Task<void> World::kill_nodes() {
    while (weather_.deaths > 0) {
        co_await timeline_.sleep(within_a_minute(dice_, weather_.deaths));
        if (!is_chaos()) co_return;
        Node& node = *dice_.pick(nodes_);
        if (!node.is_up()) continue;
        coverage_.fault(node.is_busy() ? "node dies while it commits" : "node dies while idle");
        node.die();
    }
}

Task<void> World::fill_the_disk() {
    while (weather_.full_disks > 0) {
        co_await timeline_.sleep(within_a_minute(dice_, weather_.full_disks));
        if (!is_chaos()) co_return;
        coverage_.fault("disk is full");
        const Timestamp since = timeline_.now();
        const int life = nodes_.front()->life();
        around_.reserve = dice_.one_in(2) ? 0 : 1 + dice_.below(200);
        around_.disk_is_full = true;
        ledger_.disk_is_full(since);
        co_await timeline_.sleep(1ms * dice_.below(15'000));
        around_.disk_is_full = false;
        const bool nothing_fitted = is_alone() && around_.reserve == 0;
        if (nothing_fitted && nodes_.front()->life() == life) {
            ledger_.disk_was_full(since, std::min(timeline_.now(), chaos_end_));
        }
    }
}

// A node's clock follows slowly; a node that starts has the new time at once. On a shared database
// nodes do not follow, if one of them has lived through the step and could measure it; and a step
// that is shorter than the age of the latest look cannot be seen at a start.
Task<void> World::set_clocks() {
    while (weather_.clock_steps > 0) {
        co_await timeline_.sleep(within_a_minute(dice_, weather_.clock_steps));
        if (!is_chaos()) co_return;
        if (around_.disk.is_shared() && !any_is_up()) continue;
        const bool forward = dice_.one_in(2);
        coverage_.fault(forward ? "clock is set forward" : "clock is set back");
        const Duration step = 1s * dice_.below(3600) + (around_.disk.is_shared() ? 15s : 0s);
        if (around_.disk.is_shared() && clock_dice_.one_in(3)) {
            coverage_.fault("database starts again with another clock");
            around_.database_away_until = timeline_.now() + 1ms * clock_dice_.below(3000);
        }
        clock_off_ += forward ? step : -step;
    }
}

// The nodes of a shared database look at its clock, each every other second.
Task<void> World::keep_time() {
    for (;;) {
        for (const auto& node : nodes_) {
            co_await timeline_.sleep(postgres::look_period / static_cast<int>(nodes_.size()));
            if (!node->is_up() || is_late_look(*node)) continue;
            node->look_at_clock();
            check_time(*node);
        }
    }
}

// The node looks the next time. No two of its looks in a row are late, unless the database is away.
bool World::is_late_look(const Node& node) {
    if (timeline_.now() < around_.database_away_until) return true;
    if (late_.erase(node.number()) > 0 || !is_chaos() || weather_.clock_steps == 0) return false;
    if (!clock_dice_.one_in(5)) return false;
    coverage_.fault("look at the clock is late");
    late_.insert(node.number());
    return true;
}

// Nodes that have just started may be off by steps that cannot be seen, as when one undoes the
// other; all others by what was slewed while they looked at a step.
void World::check_time(const Node& node) {
    const postgres::ClusterTime& time = node.cluster_time();
    const Duration off = time.now() - timeline_.now() - around_.database_clock.slewed();
    const bool is_even = time.is_settled() ? std::chrono::abs(off) < 300ms : off > -10s && off < 3s;
    demand(is_even, "a node's time has jumped with the database's clock");
}

// When no node has lived through a step, it cannot be told from time that has passed.
void World::undo_unseen_step() {
    if (any_is_up()) return;
    clock_off_ = around_.database_clock.slewed() - around_.database_clock.ahead();
}

// Looks between the runs of a lone committer: it must know by itself when a job may run.
Task<void> World::watch_the_time() {
    constexpr Duration commit_at_most = 50ms;
    while (is_alone()) {
        co_await timeline_.sleep(1ms * clock_dice_.below(500));
        Node& node = *nodes_.front();
        if (!node.is_up() || node.is_busy()) continue;
        checker_.limits().set_time(node.now() - commit_at_most);
        check_waiting(node, node.now() - commit_at_most);
    }
}

// Every other second the nodes of a shared store look for work, since hints may be lost.
Task<void> World::tick() {
    if (is_alone()) co_return;
    for (;;) {
        co_await timeline_.sleep(2s);
        check_patience();
        std::vector<Readied> ready;
        for (const Depth& depth :
             around_.disk.open(1000, timeline_.now())->begin()->leases().depths()) {
            ready.push_back({depth.lane, static_cast<int>(depth.queued)});
        }
        for (const auto& node : nodes_) node->hint(ready, timeline_.now());
    }
}

}  // namespace sluice::simulation
