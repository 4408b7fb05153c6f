#include "interfaces/worker/executors/private_folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace sluice::worker {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::system_category(), what);
}

// The folder, locked; nothing when another process has locked it, or it is not this user's.
Descriptor lock(const std::filesystem::path& folder) {
    Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat seen {};
    if (!opened || ::fstat(opened.get(), &seen) != 0 || seen.st_uid != ::geteuid()) return {};
    // A folder that was removed between these lines does not count.
    if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) return {};
    struct stat named {};
    if (::stat(folder.c_str(), &named) != 0 || named.st_ino != seen.st_ino) return {};
    return opened;
}

void remove_abandoned(const std::filesystem::path& parent, const std::string& prefix) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
        if (!entry.path().filename().string().starts_with(prefix)) continue;
        if (const Descriptor locked = lock(entry.path())) {
            std::filesystem::remove_all(entry.path(), ignored);
        }
    }
}

}  // namespace

PrivateFolder::PrivateFolder(std::string_view purpose) {
    const std::filesystem::path parent = std::filesystem::temp_directory_path();
    const std::string prefix = "sluice-" + std::string(purpose) + "-";
    remove_abandoned(parent, prefix);
    // Another process may take a folder that has no lock yet for an abandoned one.
    while (!lock_) {
        std::string pattern = (parent / (prefix + "XXXXXX")).string();
        if (::mkdtemp(pattern.data()) == nullptr) fail("cannot make the folder " + pattern);
        path_ = pattern;
        lock_ = lock(path_);
    }
}

PrivateFolder::~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path PrivateFolder::write(std::string_view name, std::string_view content) const {
    const std::filesystem::path file = path_ / name;
    const Descriptor opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!opened) fail("cannot make " + file.string());
    while (!content.empty()) {
        const ssize_t count = ::write(opened.get(), content.data(), content.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            const int error = errno;
            ::unlink(file.c_str());
            errno = error;
            fail("cannot write " + file.string());
        }
        content.remove_prefix(static_cast<std::size_t>(count));
    }
    return file;
}

}  // namespace sluice::worker
