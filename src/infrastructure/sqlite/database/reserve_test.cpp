#include "infrastructure/sqlite/database/reserve.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "support/quick_folder.hpp"

namespace sluice::sqlite {
namespace reserve_test {

namespace fs = std::filesystem;

constexpr std::size_t megabyte = 1024 * 1024;

class ReserveTest : public testing::Test {
  protected:
    ReserveTest() {
        fs::create_directories(folder);
        std::ofstream(store.string() + "-wal") << "log";
    }
    ~ReserveTest() override { fs::remove_all(folder); }

    static std::size_t bytes_on_disk(const fs::path& file) {
        struct stat known {};
        return stat(file.c_str(), &known) == 0 ? static_cast<std::size_t>(known.st_blocks) * 512
                                               : 0;
    }

    const fs::path folder = quick_folder() / ("sluice-reserve-" + std::to_string(getpid()));
    const fs::path store = folder / "db";
    const fs::path file = folder / "db-reserve";
};

TEST_F(ReserveTest, HoldsRoomThatNothingElseCanHave) {
    const Reserve reserve(store, megabyte);

    EXPECT_EQ(reserve.space(), StoreSpace::ample);
    EXPECT_GE(bytes_on_disk(file), megabyte);
}

TEST_F(ReserveTest, GivesTheRoomUpOnceAndHalfOfItToTheLog) {
    Reserve reserve(store, megabyte);

    EXPECT_TRUE(reserve.give_up());

    EXPECT_EQ(reserve.space(), StoreSpace::reserve);
    EXPECT_EQ(bytes_on_disk(file), 0u);
    EXPECT_GE(bytes_on_disk(store.string() + "-wal"), megabyte / 2);
    EXPECT_EQ(fs::file_size(store.string() + "-wal"), 3u) << "its end stays where it is";
    EXPECT_FALSE(reserve.give_up());
    EXPECT_EQ(reserve.space(), StoreSpace::full);
}

TEST_F(ReserveTest, TakesTheRoomBackWhenThereIsEnough) {
    Reserve reserve(store, megabyte);
    reserve.give_up();

    for (int i = 0; i < 100 && reserve.space() != StoreSpace::ample; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        reserve.take_back_if_possible();
    }

    EXPECT_EQ(reserve.space(), StoreSpace::ample);
    EXPECT_GE(bytes_on_disk(file), megabyte);
    EXPECT_TRUE(reserve.give_up()) << "and can give it up again";
}

TEST_F(ReserveTest, FollowsTheSettingAtTheNextStart) {
    { const Reserve reserve(store, 2 * megabyte); }
    { const Reserve reserve(store, megabyte); }
    EXPECT_LT(bytes_on_disk(file), 2 * megabyte);
    { const Reserve reserve(store, std::nullopt); }
    EXPECT_GE(bytes_on_disk(file), megabyte) << "who has no setting leaves it alone";

    Reserve none(store, 0);

    EXPECT_FALSE(fs::exists(file));
    EXPECT_FALSE(none.give_up());
    EXPECT_EQ(none.space(), StoreSpace::ample);
}

}  // namespace reserve_test
}  // namespace sluice::sqlite
