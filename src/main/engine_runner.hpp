#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "application/ports/job_reader.hpp"
#include "application/ports/query_queue.hpp"
#include "client/runner/runner.hpp"
#include "config/config.hpp"
#include "interfaces/worker/engine/engine_desk.hpp"

namespace sluice {

// Whether the configuration has jobs run in the engine's own process.
bool runs_jobs(const Config& config);

// The reports for the jobs that ran in the process of an engine that died, and ended with it. Only
// for a store that one engine owns: then every process with this engine's name is gone.
std::vector<Report> reports_for_the_dead(JobReader& reader, const Config& config);

// Runs the job types that have an executor, on threads of its own.
class EngineRunner {
  public:
    EngineRunner(const Config& config, CommandQueue& commands, QueryQueue& queries, Clock& clock,
                 const worker::OnIoThread& on_io_thread);
    ~EngineRunner();
    EngineRunner(const EngineRunner&) = delete;
    EngineRunner& operator=(const EngineRunner&) = delete;

    // From now on it runs jobs. When it was stopped and none is left, or when it cannot go on,
    // `ended` is called, on a thread of its own.
    void start(std::function<void()> ended);

    // Takes no more jobs, and lets those that run finish within their time of grace. The changes
    // needs the I/O thread until `ended` was called.
    void stop();

    // After `ended` was called: throws the error that kept it from going on, if there was one.
    void check();

  private:
    std::unique_ptr<client::Desk> changes_;
    client::Runner runner_;
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace sluice
