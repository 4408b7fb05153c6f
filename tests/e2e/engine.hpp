#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "e2e/process.hpp"

namespace sluice::e2e {

// What a run of the binary that ends by itself leaves.
struct Ended {
    int code = -1;
    std::string output{};
    std::string errors{};
};
Ended run_sluice(const std::vector<std::string>& arguments, Millis patience = Millis(20'000));

// The real engine, on a free port of its own.
class Engine {
  public:
    // Serves this store without authentication; throws when it does not come up.
    explicit Engine(const std::string& store, const std::vector<std::string>& more = {});

    std::uint16_t port() const { return port_; }
    Process& process() { return process_; }
    bool is_running() { return !process_.wait(Millis(0)).has_value(); }

    // Asks it to stop and returns its exit code, or -1 when it did not stop in time.
    int stop(Millis patience = Millis(15'000));

    // Ends it at once, as a power cut would.
    void kill();

    // Memory that it really uses.
    std::int64_t resident_kilobytes() const;

  private:
    Process process_;
    std::uint16_t port_ = 0;
};

// One engine per kind of store ("memory" or "sqlite") that tests share, each in a queue of its own.
// Started at the first call; when it has died, the next call starts another one.
Engine& shared_engine(const std::string& kind);

}  // namespace sluice::e2e
