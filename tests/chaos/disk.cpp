#include "chaos/disk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "chaos/summary.hpp"
#include "e2e/process.hpp"

namespace sluice::chaos {
namespace {

namespace fs = std::filesystem;

void run(std::vector<std::string> command) {
    const std::string name = command[0];
    command.insert(command.begin(), "/usr/bin/env");
    e2e::Process process(command);
    if (process.wait(e2e::Millis(30'000)) == 0) return;
    throw std::runtime_error(name + ": " + process.errors());
}

// Skips when the command is missing, or not allowed.
void try_to_set_up(const std::vector<std::string>& command) {
    if (geteuid() != 0) throw Skipped("only root may mount");
    try {
        run(command);
    } catch (const std::runtime_error& error) {
        std::string why = error.what();
        why = why.substr(0, why.find('\n'));
        throw Skipped(why);
    }
}

}  // namespace

Disk::Disk(fs::path folder, std::string type)
    : folder_(std::move(folder)), mount_point_(folder_ / "mounted"), type_(std::move(type)) {
    fs::create_directories(mount_point_);
}

Disk::Disk(Disk&& other) noexcept
    : folder_(std::move(other.folder_)),
      mount_point_(std::move(other.mount_point_)),
      type_(std::move(other.type_)),
      is_mounted_(std::exchange(other.is_mounted_, false)) {}

Disk::~Disk() {
    if (!is_mounted_) return;
    try {
        run({"umount", "--lazy", mount_point_.string()});
    } catch (const std::exception&) {
        // The mount goes with this process; see have_own_mounts().
    }
}

Disk Disk::image(const fs::path& folder, int megabytes) {
    Disk disk(folder, "ext4");
    const std::string file = (folder / "image").string();
    run({"truncate", "--size", std::to_string(megabytes) + "M", file});
    try_to_set_up({"mkfs.ext4", "-q", "-F", "-m", "0", file});
    try_to_set_up({"mount", "-o", "loop", file, disk.mount_point_.string()});
    disk.is_mounted_ = true;
    run({"sync", "-f", disk.mount_point_.string()});
    return disk;
}

Disk Disk::memory(const fs::path& folder, int megabytes) {
    Disk disk(folder, "tmpfs");
    try_to_set_up({"mount", "-t", "tmpfs", "-o", "size=" + std::to_string(megabytes) + "M", "none",
                   disk.mount_point_.string()});
    disk.is_mounted_ = true;
    return disk;
}

std::string Disk::device() const {
    std::ifstream mounts("/proc/self/mounts");
    std::string name;
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words(line);
        std::string what;
        std::string where;
        words >> what >> where;
        if (where == mount_point_.string()) name = fs::path(what).filename();
    }
    return name;
}

std::string Disk::writes_so_far() const {
    std::ifstream file("/sys/block/" + device() + "/stat");
    std::string number;
    for (int i = 0; i < 5; ++i) file >> number;  // the fifth one counts the writes
    if (!file) throw Skipped("the device does not count its writes");
    return number;
}

// The kernel may write by itself while the copy is made; a copy from before and after that would be
// a disk that writes in any order.
void Disk::remember_what_is_on_it() {
    std::string before;
    do {
        before = writes_so_far();
        run({"cp", "--sparse=always", (folder_ / "image").string(), (folder_ / "copy").string()});
    } while (writes_so_far() != before);
}

void Disk::lose_the_rest() {
    run({"umount", mount_point_.string()});
    is_mounted_ = false;
    fs::rename(folder_ / "copy", folder_ / "image");
    run({"mount", "-o", "loop", (folder_ / "image").string(), mount_point_.string()});
    is_mounted_ = true;
}

void Disk::fill() {
    const std::string path = (mount_point_ / "filler").string();
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
    if (file < 0) throw std::runtime_error("cannot fill the disk");
    // First in large pieces, then in small ones.
    for (const std::size_t size : {std::size_t{1} << 20, std::size_t{4096}, std::size_t{64}}) {
        const std::string bytes(size, 'x');
        while (write(file, bytes.data(), bytes.size()) > 0) {
        }
    }
    fsync(file);
    close(file);
}

void Disk::free() {
    fs::remove(mount_point_ / "filler");
}

}  // namespace sluice::chaos
