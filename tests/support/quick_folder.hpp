#pragma once

#include <filesystem>

namespace sluice {

// The folder of files that need not survive a power cut: in memory where that is possible.
inline std::filesystem::path quick_folder() {
    const std::filesystem::path memory = "/dev/shm";
    return std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
}

}  // namespace sluice
