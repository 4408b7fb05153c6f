// The same story on two stores must be told in the same words.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "infrastructure/sqlite/sqlite_store.hpp"
#include "simulation/world.hpp"

namespace sluice::simulation {
namespace {

namespace fs = std::filesystem;

// In memory where that is possible: this is not about what survives a power cut.
fs::path temporary_folder() {
    const fs::path memory = "/dev/shm";
    return fs::is_directory(memory) ? memory : fs::temp_directory_path();
}

class Folder {
  public:
    Folder() : path_(temporary_folder() / ("sluice-difference-" + std::to_string(getpid()))) {
        fs::remove_all(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

struct Story {
    std::vector<std::string> answers;
    Digest history{};
};

Story play_on(Store& store, std::uint64_t seed, int fault_percent) {
    World world(
        store,
        {.seed = seed, .steps = 100, .fault_percent = fault_percent, .keep_transcript = true});
    world.play();
    return {world.transcript(), world.history_hash()};
}

void expect_same_story(std::uint64_t seed, int fault_percent) {
    const Folder folder;
    MemoryStore memory;
    SqliteStore sqlite(folder.path() / "jobs.db", at(0));

    const Story expected = play_on(memory, seed, fault_percent);
    const Story story = play_on(sqlite, seed, fault_percent);

    const std::size_t common = std::min(expected.answers.size(), story.answers.size());
    for (std::size_t i = 0; i < common; ++i) {
        ASSERT_EQ(story.answers[i], expected.answers[i]) << "seed " << seed << ", answer " << i;
    }
    EXPECT_EQ(story.answers.size(), expected.answers.size()) << "seed " << seed;
    EXPECT_EQ(story.history, expected.history) << "seed " << seed;
}

TEST(SqliteAndMemory, AnswerAlikeAndKeepTheSameHistory) {
    for (std::uint64_t seed = 1001; seed <= 1014; ++seed) {
        ASSERT_NO_THROW(expect_same_story(seed, 0)) << "seed " << seed;
    }
}

TEST(SqliteAndMemory, AnswerAlikeWhenTheyFailAlike) {
    for (std::uint64_t seed = 2001; seed <= 2006; ++seed) {
        ASSERT_NO_THROW(expect_same_story(seed, 8)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace sluice::simulation
