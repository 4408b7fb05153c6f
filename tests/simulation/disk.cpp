#include "simulation/disk.hpp"

#include <unistd.h>

#include "infrastructure/sqlite/reading/sqlite_reader.hpp"
#include "infrastructure/sqlite/store/sqlite_store.hpp"
#include "support/quick_folder.hpp"

namespace sluice::simulation {
namespace {

namespace fs = std::filesystem;

class SeatedStore : public Store {
  public:
    SeatedStore(Store& shared, int seat) : shared_(shared), seat_(seat) {}

    std::unique_ptr<Session> begin() override { return shared_.begin(); }
    std::unique_ptr<JobReader> reader() override { return shared_.reader(); }
    std::int64_t last_id() override { return shared_.last_id(); }
    StoreSpace space() const override { return shared_.space(); }
    bool release_reserve() override { return shared_.release_reserve(); }
    std::optional<int> seat() const override { return seat_; }

  private:
    Store& shared_;
    int seat_;
};

fs::path new_folder() {
    static int count = 0;
    return quick_folder() /
           ("sluice-simulation-" + std::to_string(getpid()) + "-" + std::to_string(++count));
}

}  // namespace

std::unique_ptr<Store> MemoryDisk::open(int seat, Timestamp) {
    return std::make_unique<SeatedStore>(store_, seat);
}

SqliteDisk::SqliteDisk() : folder_(new_folder()) {}

SqliteDisk::~SqliteDisk() {
    fs::remove_all(folder_);
}

std::unique_ptr<Store> SqliteDisk::open(int, Timestamp now) {
    return std::make_unique<SqliteStore>(file(), now);
}

void SqliteDisk::crash() {
    const fs::path before = file();
    ++life_;
    fs::create_directories(file().parent_path());
    for (const char* part : {"", "-wal"}) {
        if (!fs::exists(before.string() + part)) continue;
        fs::copy_file(before.string() + part, file().string() + part);
    }
}

std::unique_ptr<JobReader> SqliteDisk::reader() {
    return std::make_unique<sqlite::SqliteReader>(file());
}

}  // namespace sluice::simulation
