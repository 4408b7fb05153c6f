#pragma once

#include <filesystem>
#include <string_view>

#include "interfaces/worker/descriptor.hpp"

namespace sluice::worker {

// A new folder that only this user can look into. It goes away, with all that is in it, with the
// object. What a process that was killed leaves behind goes with the next folder for the same
// purpose that this user makes.
class PrivateFolder {
  public:
    // Throws std::system_error.
    explicit PrivateFolder(std::string_view purpose);
    ~PrivateFolder();
    PrivateFolder(const PrivateFolder&) = delete;
    PrivateFolder& operator=(const PrivateFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

    // Puts a new file there, for this user only. Throws std::system_error, and then leaves none.
    std::filesystem::path write(std::string_view name, std::string_view content) const;

  private:
    std::filesystem::path path_;
    Descriptor lock_;  // held as long as the folder is in use
};

}  // namespace sluice::worker
