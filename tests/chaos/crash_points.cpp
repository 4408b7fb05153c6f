// The engine runs a script and is killed at the Nth of its calls that write: before the call, after
// it, or when half of the bytes are written. It is started again, the script goes on where it was,
// and in the end all is judged. N runs over all calls from the first start of an empty store to the
// last write of the shutdown.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <functional>

#include "chaos/script.hpp"

namespace sluice::chaos {
namespace {

constexpr int operations = 200;

struct Kind {
    const char* call;
    const char* action;
};

constexpr auto kinds = std::to_array<Kind>({
    {"open", "kill"},
    {"pwrite64", "kill"},
    {"pwrite64", "torn"},
    {"write", "kill"},
    {"fdatasync", "kill"},
    {"fdatasync", "kill_after"},  // it is on the disk, and no caller was told
    {"ftruncate", "kill"},
    {"unlink", "kill"},
});

struct Outcome {
    Calls calls{};  // of the engine with the plan, while it lived
    bool was_hit = false;
};

class Point {
  public:
    Point(const std::string& plan, const Order& order, Tally& tally)
        : plan_(plan),
          dice_(order.seed + std::hash<std::string>{}(plan)),
          episode_({.store = "sqlite:" + (folder_.path() / "db").string(),
                    .store_folder = folder_.path(),
                    .seed = order.seed,
                    .repeat = "crash-points@" + plan},
                   tally) {}

    Outcome run() {
        Outcome outcome;
        if (!episode_.start(plan_)) start_again();
        Script script(episode_, [&] { revive(); });
        script.run(operations);
        script.settle();
        // The shutdown writes, too, and the plan may hit there; the store that it leaves must be
        // good.
        bury();
        if (is_planned_) outcome.calls = episode_.calls();
        episode_.start();
        episode_.judge();
        outcome.was_hit = !is_planned_;
        return outcome;
    }

  private:
    void revive() {
        if (episode_.answers()) return;
        bury();
        start_again();
        episode_.look_for_acknowledged();
    }

    void bury() {
        const int code = episode_.bury();
        if (code == 128 + SIGKILL) is_planned_ = false;
        if (code != 0 && code != 128 + SIGKILL) {
            episode_.complain(fmt::format("the engine ended with {}", code));
        }
    }

    // A repair at one start may have to be finished by the next one.
    void start_again() {
        is_planned_ = false;
        const std::string second = fmt::format("pwrite64:{}:torn", 1 + dice_.below(10));
        if (dice_.one_in(3) && episode_.start(second)) return;
        episode_.start();
    }

    std::string plan_;
    simulation::Dice dice_;
    FastFolder folder_;
    Episode episode_;
    bool is_planned_ = true;  // the kill has not come yet
};

Outcome run_point(const std::string& plan, const Order& order, Tally& tally) {
    ++tally.cycles;
    return Point(plan, order, tally).run();
}

template <class Number>
std::string point(const Kind& kind, Number n) {
    return fmt::format("{}:{}:{}", kind.call, n, kind.action);
}

// Each returns how many of its points were hit.
int run_all(const Calls& calls, const Order& order, Tally& tally) {
    int hits = 0;
    for (const Kind& kind : kinds) {
        for (std::uint64_t n = 1; n <= calls.at(kind.call) && !order.is_over(); ++n) {
            if (run_point(point(kind, n), order, tally).was_hit) ++hits;
        }
    }
    return hits;
}

// Rare calls have few points and common ones many: each kind gets its turn while it has points.
int run_some(const Calls& calls, int wanted, const Order& order, Tally& tally) {
    simulation::Dice dice(order.seed);
    int hits = 0;
    for (std::size_t i = 0; tally.cycles < wanted && !order.is_over(); ++i) {
        const Kind& kind = kinds[i % kinds.size()];
        const auto last = static_cast<int>(calls.at(kind.call));
        if (i / kinds.size() >= static_cast<std::size_t>(last)) continue;
        const int n = 1 + dice.below(last);
        if (run_point(point(kind, n), order, tally).was_hit) ++hits;
    }
    return hits;
}

}  // namespace

void crash_points(const Order& order, Tally& tally) {
    if (!order.only.empty()) {
        run_point(order.only, order, tally);
        return;
    }
    const Calls calls = run_point("unlink:1000000:kill", order, tally).calls;  // to count them
    int points = 0;
    for (const Kind& kind : kinds) points += static_cast<int>(calls.at(kind.call));
    // Where time is short, some points of each kind.
    const bool all = order.count > points && !order.deadline;
    const int hits = all ? run_all(calls, order, tally)
                         : run_some(calls, std::min(order.count, points), order, tally);
    tally.note = fmt::format("{} points, {} hit", points, hits);
}

}  // namespace sluice::chaos
