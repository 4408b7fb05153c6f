#pragma once

#include <filesystem>
#include <memory>
#include <stdexcept>

struct sqlite3;

namespace sluice::sqlite {

struct Close {
    void operator()(sqlite3* connection) const;
};
using Connection = std::unique_ptr<sqlite3, Close>;

// A connection may be used by one thread at a time. Throws StoreUnavailable when the file cannot be
// opened, and std::runtime_error when it does not honour a setting that durability rests on.

// The one connection that writes and checkpoints. Creates the file when it is missing. `pages_max`
// limits the size of the file; zero: the disk does. A write that does not fit is refused as
// StoreUnavailable.
Connection open_writer(const std::filesystem::path& path, int pages_max);

// Never writes and never checkpoints: SQLite before 3.51.3 can corrupt the file when a second
// connection does so at the wrong moment (sqlite.org/wal.html#walresetbug).
Connection open_reader(const std::filesystem::path& path);

// Another process owns the file.
struct StoreInUse : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Keeps other processes from owning the same file. Throws StoreInUse when one does.
class OwnerLock {
  public:
    explicit OwnerLock(const std::filesystem::path& path);
    ~OwnerLock();
    OwnerLock(const OwnerLock&) = delete;
    OwnerLock& operator=(const OwnerLock&) = delete;

  private:
    int file_ = -1;
};

// Creates the folder of `path` where it is missing, so that it outlives a power cut.
void create_folder_of(const std::filesystem::path& path);

}  // namespace sluice::sqlite
