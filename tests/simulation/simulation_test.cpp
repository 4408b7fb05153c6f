// The whole engine under seeded clients, workers and faults: nodes that die at any point, a network
// that loses and repeats, stores that fail, clocks that are set.
//
//   SLUICE_SEEDS   how many seeds to play (3000), from SLUICE_FIRST_SEED (1) on
//   SLUICE_SEED    plays one alone
//   SLUICE_SQLITE_SEEDS, SLUICE_SQLITE_SEED: the same on SQLite (20)
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "simulation/world.hpp"

namespace sluice::simulation {
namespace simulation_test {

std::uint64_t setting(const std::string& name, std::uint64_t otherwise) {
    const char* text = std::getenv(name.c_str());
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Played {
    Digest hash{};
    Coverage coverage{};
    std::size_t jobs = 0;
    std::uint64_t messages = 0;
};

template <class SomeDisk>
Played play(WorldOptions options) {
    SomeDisk disk;
    World world(disk, options);
    world.play();
    return {world.hash(), world.coverage(), world.jobs(), world.messages()};
}

// Plays seeds and reports on them; the first few violations fail the test.
class Season {
  public:
    explicit Season(std::string variable) : variable_(std::move(variable)) {}

    template <class SomeDisk>
    Coverage play_all(std::uint64_t otherwise) {
        const std::uint64_t only = setting(variable_, 0);
        const std::uint64_t first = only != 0 ? only : setting("SLUICE_FIRST_SEED", 1);
        const std::uint64_t count = only != 0 ? 1 : setting(variable_ + "S", otherwise);
        const auto start = std::chrono::steady_clock::now();
        for (std::uint64_t seed = first; seed < first + count && broken_ < 5; ++seed) {
            play_one<SomeDisk>(seed);
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::cout << count << " seeds from " << first << " on, " << sum_.jobs << " jobs, "
                  << sum_.messages << " messages, " << sum_.coverage.faults() << " faults, "
                  << broken_ << " violations in " << took.count() << " s ("
                  << static_cast<double>(count) / took.count() * 60 << " seeds a minute)\n";
        return sum_.coverage;
    }

    template <class SomeDisk>
    void play_one(std::uint64_t seed) {
        try {
            const Played played = play<SomeDisk>({.seed = seed});
            sum_.coverage.add(played.coverage);
            sum_.jobs += played.jobs;
            sum_.messages += played.messages;
        } catch (const std::exception& violation) {
            ++broken_;
            ADD_FAILURE() << "seed " << seed << ": " << violation.what()
                          << "\nto play it alone: " << variable_ << "=" << seed
                          << " simulation_tests";
        }
    }

  private:
    std::string variable_;
    Played sum_{};
    int broken_ = 0;
};

TEST(Simulation, KeepsEveryPromiseUnderEverySeed) {
    const Coverage coverage = Season("SLUICE_SEED").play_all<MemoryDisk>(3000);
    if (setting("SLUICE_SEED", 0) != 0) return;
    std::cout << coverage.table();
    EXPECT_EQ(coverage.never_hit(), std::vector<std::string>{}) << "never happened";
}

TEST(Simulation, KeepsEveryPromiseOnSqlite) {
    Season("SLUICE_SQLITE_SEED").play_all<SqliteDisk>(20);
}

// How the seed ends: in a history, or in a violation.
std::string story(std::uint64_t seed) {
    try {
        return to_hex(play<MemoryDisk>({.seed = seed}).hash);
    } catch (const Violation& violation) {
        return violation.what();
    }
}

TEST(Simulation, TellsTheSameStoryForTheSameSeed) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        EXPECT_EQ(story(seed), story(seed)) << "seed " << seed;
    }
    EXPECT_NE(story(1), story(2));
}

// Seeds that once found a bug. One per line, with what it was.
TEST(Simulation, KeepsWhatItLearned) {
    std::ifstream file(SLUICE_SOURCE_DIR "/tests/simulation/seeds.txt");
    ASSERT_TRUE(file) << "seeds.txt";
    Season memory("SLUICE_SEED");
    Season sqlite("SLUICE_SQLITE_SEED");
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.starts_with('#')) continue;
        std::istringstream words(line);
        std::string store;
        std::uint64_t seed = 0;
        ASSERT_TRUE(words >> store >> seed) << line;
        if (store == "sqlite") {
            sqlite.play_one<SqliteDisk>(seed);
        } else {
            memory.play_one<MemoryDisk>(seed);
        }
    }
}

}  // namespace simulation_test
}  // namespace sluice::simulation
