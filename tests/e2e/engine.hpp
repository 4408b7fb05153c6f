#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/process.hpp"

namespace sluice::e2e {

// Whether the tests run on PostgreSQL: SLUICE_E2E_STORE=postgres is in the environment. Then each
// store that a test names is a database of the test server instead: "memory:" a new one each time,
// "sqlite:PATH" the one of that path. Suites about features of a file or of its single engine have
// names that begin with "Sqlite", and are left out there.
bool on_postgres();

// The store that is really used where a test names this one.
std::string store_in_use(const std::string& url);

// The command line of the binary with these arguments, --store as above.
std::vector<std::string> sluice_command(std::vector<std::string> arguments);

// The result of a run of the binary that ends by itself.
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

    // Asks for tokens; `environment` holds assignments such as NAME=value.
    struct Guarded {};
    Engine(Guarded, const std::string& store, const std::vector<std::string>& more,
           const std::vector<std::string>& environment);

    std::uint16_t port() const { return port_; }
    Process& process() { return process_; }
    bool is_running() { return !process_.wait(Millis(0)).has_value(); }

    // Asks it to stop and returns its exit code, or -1 when it did not stop in time.
    int stop(Millis patience = Millis(15'000));

    // Ends it at once, as a power cut would.
    void kill();

    // The resident memory.
    std::int64_t resident_kilobytes() const;
    std::int64_t most_resident_kilobytes() const;  // since it was started

  private:
    void read_port();
    std::int64_t memory_figure(std::string_view name) const;

    Process process_;
    std::uint16_t port_ = 0;
};

// One engine per kind of store ("memory" or "sqlite") that tests share, each in a queue of its own.
// Started at the first call; when it has died, the next call starts another one.
Engine& shared_engine(const std::string& kind);

}  // namespace sluice::e2e
