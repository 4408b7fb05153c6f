#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>

#include "e2e/json.hpp"

namespace sluice::nodes {

// The calls of clients and their answers: a file with a line of JSON per operation. Any thread.
class Record {
  public:
    explicit Record(const std::filesystem::path& path);

    // Microseconds since 1970, never going back.
    std::int64_t now() const;

    void write(const e2e::Fields& line);

    // A fault of the engine, or a message that a worker left out; `later`: where the clock of the
    // nodes is ahead by as much.
    void note(const std::string& op, const std::string& actor, const e2e::Fields& args,
              std::chrono::microseconds later = {});

    // All lines are in the file.
    void finish();

  private:
    std::chrono::system_clock::time_point system_start_ = std::chrono::system_clock::now();
    std::chrono::steady_clock::time_point steady_start_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::ofstream file_;
};

}  // namespace sluice::nodes
