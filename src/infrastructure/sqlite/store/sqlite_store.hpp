#pragma once

#include <filesystem>

#include "application/ports/store.hpp"
#include "infrastructure/sqlite/database/connection.hpp"
#include "infrastructure/sqlite/database/reserve.hpp"

namespace sluice {

namespace sqlite {
struct Writer;
}

// Keeps everything in one SQLite file that this process owns. A commit survives a power cut.
//
// The first error of the disk, or a file that is found to be corrupt, ends the process: see
// sqlite::fail. A full disk is StoreFull; the store goes on once there is space.
class SqliteStore final : public Store {
  public:
    // Creates the file and its folders when they are missing, applies new migrations, and reads the
    // queued and leased jobs. Every lease gets one fresh term from `now`, since no heartbeat could
    // arrive while no engine ran. Throws std::runtime_error when another process owns the file,
    // when it is from a newer version, or when it cannot be written durably.
    struct Limits {
        int pages_max = 0;                              // see open_writer
        std::optional<std::size_t> reserve_bytes = {};  // see sqlite::Reserve
    };
    SqliteStore(const std::filesystem::path& path, Timestamp now, const Limits& limits);
    SqliteStore(const std::filesystem::path& path, Timestamp now)
        : SqliteStore(path, now, Limits{}) {}
    ~SqliteStore() override;

    std::unique_ptr<Session> begin() override;
    std::unique_ptr<JobReader> reader() override;
    std::int64_t last_id() override;
    StoreSpace space() const override { return reserve_.space(); }
    bool release_reserve() override { return reserve_.give_up(); }

  private:
    void close();

    std::filesystem::path path_;
    sqlite::OwnerLock lock_;
    sqlite::Reserve reserve_;
    int log_pages_ = 0;  // in the write-ahead log after the last commit
    std::unique_ptr<sqlite::Writer> writer_;
};

}  // namespace sluice
