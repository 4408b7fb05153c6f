#pragma once

#include <filesystem>
#include <string>

namespace sluice::chaos {

// A disk of its own, mounted for as long as it lives. Throws Skipped where that is not possible.
class Disk {
  public:
    // An ext4 file system in a file.
    static Disk image(const std::filesystem::path& folder, int megabytes);
    // A file system in memory.
    static Disk memory(const std::filesystem::path& folder, int megabytes);

    ~Disk();
    Disk(Disk&&) noexcept;
    Disk& operator=(Disk&&) = delete;

    const std::filesystem::path& path() const { return mount_point_; }

    // Only data that has reached the disk so far stays; all else is gone, as if the power had
    // failed at this moment. In two parts: no process may write from the first one on, nor have
    // files open in the second one.
    void remember_what_is_on_it();
    void lose_the_rest();

    // Takes all the space there is, and gives it back.
    void fill();
    void free();

  private:
    Disk(std::filesystem::path folder, std::string type);
    std::string writes_so_far() const;
    std::string device() const;

    std::filesystem::path folder_;
    std::filesystem::path mount_point_;
    std::string type_;
    bool is_mounted_ = false;
};

}  // namespace sluice::chaos
