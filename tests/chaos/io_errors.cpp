// Calls of the engine that write fail, once or from some moment on, while it runs a script. It may
// refuse and go on, or end with an error; everything that it has acknowledged is there after the
// next start.
#include <fmt/format.h>
#include <signal.h>

#include <array>

#include "chaos/script.hpp"

namespace sluice::chaos {
namespace {

using e2e::Millis;

constexpr int failing_operations = 60;

struct ErrorKind {
    const char* call;
    const char* times;
    const char* error;
};

constexpr auto error_kinds = std::to_array<ErrorKind>({
    {"fdatasync", "", "EIO"},
    {"pwrite64", "", "EIO"},
    {"pwrite64", "", "ENOSPC"},
    {"pwrite64", "+", "ENOSPC"},
    {"pwrite64", "+", "short"},
    {"pwrite64", "", "EINTR"},
    {"fdatasync", "+", "EIO"},
    {"fdatasync", "", "ENOSPC"},
    {"open", "", "EIO"},
    {"open", "", "ENOSPC"},
    {"ftruncate", "", "EIO"},
});

struct Effects {
    int ended = 0;    // engines
    int refused = 0;  // operations
};

// An engine that has no space for good is killed. One that has failed must say so.
void revive(Episode& episode, Effects& effects) {
    constexpr int refusals_max = 5;
    if (episode.answers()) {
        if (++effects.refused % refusals_max != 0) {
            return std::this_thread::sleep_for(Millis(10));
        }
        episode.kill();
    } else {
        ++effects.ended;
        const int code = episode.bury();
        if (code == 0 || code >= 128) {
            episode.complain(fmt::format("after an error the engine ended with {}", code));
        }
    }
    episode.start();
    episode.look_for_acknowledged();
}

// Returns how often the engine did each call while it had the plan.
Calls run_error(const std::string& plan, const Order& order, Tally& tally, Effects& effects) {
    const FastFolder folder;
    Episode episode({.store = "sqlite:" + (folder.path() / "db").string(),
                     .store_folder = folder.path(),
                     .seed = order.seed,
                     .repeat = "io-errors@" + plan},
                    tally);
    if (!episode.start(plan)) {
        ++effects.ended;
        episode.start();
    }
    Script script(episode, [&] { revive(episode, effects); });
    script.run(failing_operations);
    script.settle();
    Calls calls = episode.calls();
    // Data that the engine has only in memory does not count.
    episode.kill();
    episode.start();
    episode.look_for_acknowledged();
    episode.judge();
    ++tally.cycles;
    return calls;
}

}  // namespace

void io_errors(const Order& order, Tally& tally) {
    Effects effects;
    if (!order.only.empty()) {
        run_error(order.only, order, tally, effects);
        return;
    }
    // Once without any error, to count the calls.
    const Calls calls = run_error("unlink:1000000:EIO", order, tally, effects);
    simulation::Dice dice(order.seed);
    for (std::size_t i = 0; tally.cycles < order.count && !order.is_over(); ++i) {
        const ErrorKind& kind = error_kinds[i % error_kinds.size()];
        const int n = 1 + dice.below(static_cast<int>(calls.at(kind.call)));
        run_error(fmt::format("{}:{}{}:{}", kind.call, n, kind.times, kind.error), order, tally,
                  effects);
    }
    tally.note = fmt::format("{} ended the engine, {} operations were refused", effects.ended,
                             effects.refused);
}

}  // namespace sluice::chaos
