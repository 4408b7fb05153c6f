// The same seed must have the same transcript on two stores.
#include <gtest/gtest.h>

#include "simulation/world.hpp"

namespace sluice::simulation {
namespace store_difference_test {

struct Story {
    std::vector<std::string> answers;
    Digest hash{};
};

Story play_on(Disk& disk, std::uint64_t seed) {
    World world(disk, {.seed = seed, .calm = true, .keep_transcript = true});
    world.play();
    return {world.transcript(), world.hash()};
}

void expect_same_story(std::uint64_t seed) {
    MemoryDisk memory(false);
    SqliteDisk sqlite;
    const Story expected = play_on(memory, seed);
    const Story story = play_on(sqlite, seed);
    const std::size_t common = std::min(expected.answers.size(), story.answers.size());
    for (std::size_t i = 0; i < common; ++i) {
        ASSERT_EQ(story.answers[i], expected.answers[i]) << "seed " << seed << ", answer " << i;
    }
    EXPECT_EQ(story.answers.size(), expected.answers.size()) << "seed " << seed;
    EXPECT_EQ(story.hash, expected.hash) << "seed " << seed;
}

TEST(SqliteAndMemory, AnswerAlikeAndKeepTheSameHistory) {
    for (std::uint64_t seed = 1001; seed <= 1020; ++seed) {
        ASSERT_NO_THROW(expect_same_story(seed)) << "seed " << seed;
    }
}

}  // namespace store_difference_test
}  // namespace sluice::simulation
