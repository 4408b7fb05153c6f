#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/runner/desk.hpp"

namespace sluice::client {

struct RunnerOptions {
    std::string worker_id{};  // empty: host name and process id
    std::string tenant{};
    std::vector<std::string> queues{};
    std::vector<std::string> types{};  // empty: those with a worker; any, if there is one for all
    std::vector<std::string> labels{};
    int concurrency = 1;
    Millis lease{30'000};
    Millis shutdown_grace{30'000};
    Millis stop_patience{10'000};  // for jobs that were told to stop
    std::function<void(Level, const std::string&)> on_notice{};
};

// Claims jobs through a Desk and has the registered workers run them. The Worker of the public
// library is this with a Desk over HTTP; the engine runs one with a Desk in its own process.
class Runner {
  public:
    Runner(Desk& desk, RunnerOptions options);
    ~Runner();
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    // Before run().
    void handle(std::string type, std::shared_ptr<JobWorker> worker);
    void handle_any(std::shared_ptr<JobWorker> worker);

    void run();       // as Worker::run(); once
    void stop();      // as Worker::stop(); safe in a signal handler
    void stop_now();  // as Worker::stop_now()

  private:
    class Core;
    std::shared_ptr<Core> core_;  // shared with threads that a worker does not return from
};

// "host:pid", which names this process among all workers.
std::string default_worker_id();

}  // namespace sluice::client
