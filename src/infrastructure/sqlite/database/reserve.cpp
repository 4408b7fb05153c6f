#include "infrastructure/sqlite/database/reserve.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "infrastructure/system/boot_clock.hpp"

namespace sluice::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t part_of_disk = 8;
constexpr Duration between_looks = std::chrono::milliseconds(200);

fs::space_info space_of(const fs::path& file) {
    std::error_code error;
    const fs::space_info space = fs::space(file.parent_path(), error);
    return error ? fs::space_info{} : space;
}

// The bytes that the file occupies on the disk: a file that was cut short or never written has less
// than its size.
std::size_t bytes_held(const fs::path& file) {
    struct stat known {};
    if (stat(file.c_str(), &known) != 0) return 0;
    return static_cast<std::size_t>(known.st_blocks) * 512;
}

}  // namespace

Reserve::Reserve(const fs::path& store, std::optional<std::size_t> bytes)
    : path_(store.string() + "-reserve"),
      log_(store.string() + "-wal"),
      bytes_(std::min<std::size_t>(bytes.value_or(0), space_of(path_).capacity / part_of_disk)) {
    std::error_code error;
    if (!bytes) return;
    if (bytes_ == 0) {
        fs::remove(path_, error);
        return;
    }
    if (bytes_held(path_) > bytes_) fs::resize_file(path_, bytes_, error);
    if (bytes_held(path_) >= bytes_ || take()) return;
    state_ = ReserveState(StoreSpace::reserve);
}

// Allocated, not written: it takes space and no time.
bool Reserve::take() {
    if (!ReserveState::may_take_back(space_of(path_).available, bytes_)) return false;
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return false;
    const bool is_held = posix_fallocate(file, 0, static_cast<off_t>(bytes_)) == 0;
    ::close(file);
    std::error_code error;
    if (!is_held) fs::remove(path_, error);
    return is_held;
}

// Half of it goes to the write-ahead log at once, beyond the end of that file: the process that
// fills the disk may be quick to take the rest, and every write goes to the log first. (SQLite
// locks the store's file and not its log, so this file may be opened and closed beside it.)
bool Reserve::give_up() {
    looked_at_ = since_boot();
    if (bytes_ == 0 || !state_.did_not_fit()) return false;
    if (truncate(path_.c_str(), 0) != 0 && errno != ENOENT) return false;
    const int log = ::open(log_.c_str(), O_RDWR | O_CLOEXEC);
    if (log < 0) return true;
    struct stat known {};
    if (fstat(log, &known) == 0) {
        const auto more = static_cast<off_t>(bytes_ / 2);
        [[maybe_unused]] const int code = fallocate(log, FALLOC_FL_KEEP_SIZE, known.st_size, more);
    }
    ::close(log);
    return true;
}

void Reserve::take_back_if_possible() {
    if (state_.space() == StoreSpace::ample || since_boot() - looked_at_ < between_looks) return;
    looked_at_ = since_boot();
    if (take()) state_.taken_back();
}

}  // namespace sluice::sqlite
