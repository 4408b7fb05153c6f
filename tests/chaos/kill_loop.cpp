// The engine is killed at any moment while clients and workers use it, and started again on the
// same store, many times.
#include <fmt/format.h>

#include <thread>

#include "chaos/episode.hpp"
#include "support/postgres.hpp"

namespace sluice::chaos {
namespace {

using e2e::Millis;

// So that the checker can read the record in one go.
constexpr int cycles_of_an_episode = 100;

// Most lives are short, so that there are many; some are long enough for the engine's periodic
// work.
Millis any_life(simulation::Dice& dice) {
    return Millis(dice.one_in(20) ? 300 + dice.below(300) : 5 + dice.below(80));
}

void run_episode(const Scene& scene, const Order& order, int cycles, Tally& tally) {
    Episode episode(scene, tally);
    simulation::Dice dice(scene.seed);
    episode.start();
    {
        Load load(episode, 8, 12, 1);
        for (int cycle = 0; cycle < cycles && !order.is_over(); ++cycle) {
            std::this_thread::sleep_for(any_life(dice));
            episode.kill();
            episode.start();
            episode.look_for_acknowledged();
            ++tally.cycles;
        }
        load.stop_clients();
        episode.drain();
    }
    episode.judge();
}

template <class NewScene>
void run_episodes(const Order& order, Tally& tally, const std::string& name, NewScene new_scene) {
    std::uint64_t seed = order.seed;
    for (int left = order.count; left > 0 && !order.is_over(); ++seed) {
        const int cycles = std::min(left, cycles_of_an_episode);
        Scene scene = new_scene();
        scene.seed = seed;
        scene.repeat = fmt::format("{}={}", name, cycles);
        run_episode(scene, order, cycles, tally);
        left -= cycles;
    }
}

}  // namespace

void kill_on_sqlite(const Order& order, Tally& tally) {
    std::unique_ptr<e2e::TempFolder> folder;
    run_episodes(order, tally, "kill", [&] {
        folder = std::make_unique<e2e::TempFolder>();
        return Scene{.store = "sqlite:" + (folder->path() / "db").string(),
                     .store_folder = folder->path()};
    });
}

void kill_on_postgres(const Order& order, Tally& tally) {
    try {
        test_server_url();
    } catch (const std::exception& error) {
        throw Skipped(error.what());
    }
    run_episodes(order, tally, "kill-postgres", [] { return Scene{.store = fresh_database()}; });
}

}  // namespace sluice::chaos
