#pragma once

#include <filesystem>

namespace sluice {

// Copies what a power cut would leave of an SQLite database now into an empty folder, and returns
// the path of the copy.
inline std::filesystem::path copy_as_after_a_crash(const std::filesystem::path& database,
                                                   const std::filesystem::path& folder) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const std::filesystem::path copy = folder / "jobs.db";
    for (const char* part : {"", "-wal"}) {
        std::filesystem::copy_file(database.string() + part, copy.string() + part);
    }
    return copy;
}

}  // namespace sluice
