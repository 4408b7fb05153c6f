// The whole engine under seeded clients, workers and faults. SLUICE_SEEDS says how many seeds to
// play, and SLUICE_SEED plays one alone.
#include <gtest/gtest.h>

#include <cstdlib>

#include "simulation/world.hpp"

namespace sluice::simulation {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Every third seed plays with a store that fails.
WorldOptions options_for(std::uint64_t seed) {
    WorldOptions options;
    options.seed = seed;
    options.fault_percent = seed % 3 == 0 ? 8 : 0;
    return options;
}

Digest play(std::uint64_t seed) {
    MemoryStore store;
    World world(store, options_for(seed));
    world.play();
    return world.history_hash();
}

TEST(Simulation, KeepsEveryPromiseUnderEverySeed) {
    const std::uint64_t only = number_from("SLUICE_SEED", 0);
    const std::uint64_t first = only != 0 ? only : 1;
    const std::uint64_t last = only != 0 ? only : number_from("SLUICE_SEEDS", 300);
    int broken = 0;

    for (std::uint64_t seed = first; seed <= last && broken < 5; ++seed) {
        try {
            play(seed);
        } catch (const std::exception& violation) {
            ++broken;
            ADD_FAILURE() << "seed " << seed << ": " << violation.what()
                          << "\nto play it alone: SLUICE_SEED=" << seed << " simulation_tests";
        }
    }
}

// How the seed ends: in a history, or in a violation.
std::string story(std::uint64_t seed) {
    try {
        return to_hex(play(seed));
    } catch (const Violation& violation) {
        return violation.what();
    }
}

TEST(Simulation, TellsTheSameStoryForTheSameSeed) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        EXPECT_EQ(story(seed), story(seed)) << "seed " << seed;
    }
    EXPECT_NE(story(1), story(2));
}

TEST(Simulation, IsWorthItsName) {
    MemoryStore calm;
    World without_faults(calm, options_for(1));
    without_faults.play();
    MemoryStore shaky;
    World with_faults(shaky, options_for(3));
    with_faults.play();

    EXPECT_GT(without_faults.jobs(), 40u);
    EXPECT_EQ(without_faults.faults(), 0);
    EXPECT_GT(with_faults.faults(), 10);
}

}  // namespace
}  // namespace sluice::simulation
