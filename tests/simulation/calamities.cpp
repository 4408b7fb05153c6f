#include <algorithm>

#include "simulation/world.hpp"

// What happens to nodes from outside, and what shared stores do by themselves.
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

// A node's clock follows slowly; one that starts has the new time at once. On a shared database
// nodes do not follow, if one of them has lived through the step and could measure it; and a step
// that is shorter than the nodes' looks are apart cannot be told at a start.
Task<void> World::set_clocks() {
    while (weather_.clock_steps > 0) {
        co_await timeline_.sleep(within_a_minute(dice_, weather_.clock_steps));
        if (!is_chaos()) co_return;
        if (around_.disk.is_shared() && !any_is_up()) continue;
        const bool forward = dice_.one_in(2);
        coverage_.fault(forward ? "clock is set forward" : "clock is set back");
        const Duration step = 1s * dice_.below(3600) + (around_.disk.is_shared() ? 5s : 0s);
        clock_off_ += forward ? step : -step;
    }
}

// The nodes of a shared database look at its clock, each every other second.
Task<void> World::keep_time() {
    for (;;) {
        for (const auto& node : nodes_) {
            co_await timeline_.sleep(postgres::look_period / static_cast<int>(nodes_.size()));
            if (!node->is_up()) continue;
            node->look_at_clock();
            const postgres::ClusterTime& time = node->cluster_time();
            const Timestamp even = timeline_.now() + around_.database_clock.slewed();
            demand(!time.is_settled() || std::chrono::abs(time.now() - even) < 100ms,
                   "a node's time has jumped with the database's clock");
        }
    }
}

// When no node has lived through a step, it cannot be told from time that has passed.
void World::undo_unseen_step() {
    if (any_is_up()) return;
    clock_off_ = around_.database_clock.slewed() - around_.database_clock.ahead();
}

// Every other second the nodes of a shared store look what there is, since hints may be lost.
Task<void> World::tick() {
    if (is_alone()) co_return;
    for (;;) {
        co_await timeline_.sleep(2s);
        std::vector<Readied> ready;
        for (const Depth& depth :
             around_.disk.open(1000, timeline_.now())->begin()->leases().depths()) {
            ready.push_back({depth.lane, static_cast<int>(depth.queued)});
        }
        for (const auto& node : nodes_) node->hint(ready, timeline_.now());
    }
}

}  // namespace sluice::simulation
