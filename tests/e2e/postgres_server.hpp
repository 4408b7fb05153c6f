#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "e2e/process.hpp"

namespace sluice::e2e {

// A PostgreSQL server of the test's own, which it may stop and damage. Gone with all its data at
// the end.
class PostgresServer {
  public:
    // With a clock of its own, set_clock() works; needs the package faketime.
    enum class Clock { machines, own };
    explicit PostgresServer(Clock clock = Clock::machines);
    ~PostgresServer();
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;

    std::uint16_t port() const { return port_; }
    std::string url() const { return url_through({port_}); }

    // The same server on other ports, one after the other.
    static std::string url_through(const std::vector<std::uint16_t>& ports);

    // Ends it as a crash would, and starts it again.
    void halt() const { run("halt"); }
    void resume() const { run("resume"); }

    // Sets its clock so far from the machine's.
    void set_clock(std::chrono::seconds off) const;

    // Stops all its processes where they are, and lets them go on.
    void freeze();
    void thaw();

    // On a connection of its own, straight to the server.
    void execute(const std::string& text) const;
    std::int64_t ask(const std::string& text) const;

  private:
    void run(const std::string& command, Clock clock = Clock::machines) const;

    TempFolder folder_;
    std::uint16_t port_ = 0;
    std::vector<pid_t> frozen_;
};

}  // namespace sluice::e2e
