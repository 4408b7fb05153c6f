#pragma once

#include <filesystem>
#include <string_view>

#include "interfaces/worker/leash/descriptor.hpp"

namespace sluice::worker {

// A new folder that only this user can look into. The destructor removes it, with all its files.
// The folder of a process that was killed is removed when this user makes the next folder for the
// same purpose.
class PrivateFolder {
  public:
    // Throws std::system_error.
    explicit PrivateFolder(std::string_view purpose);
    ~PrivateFolder();
    PrivateFolder(const PrivateFolder&) = delete;
    PrivateFolder& operator=(const PrivateFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

    // Writes a new file there, for this user only. Throws std::system_error, and then leaves none.
    std::filesystem::path write(std::string_view name, std::string_view content) const;

  private:
    std::filesystem::path path_;
    Descriptor lock_;  // held as long as the folder is in use
};

}  // namespace sluice::worker
