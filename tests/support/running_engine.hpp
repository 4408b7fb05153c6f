#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "application/engine/engine.hpp"
#include "infrastructure/commit/committer.hpp"
#include "infrastructure/system/system_clock.hpp"
#include "support/builders.hpp"

namespace sluice {

// Runs tasks one after the other on a thread of its own, as the I/O thread of a server does.
class TaskThread {
  public:
    TaskThread();
    ~TaskThread();  // after the tasks that are queued
    void post(std::function<void()> task);

  private:
    void run();

    std::mutex mutex_;
    std::condition_variable posted_;
    std::deque<std::function<void()>> tasks_;
    bool stop_ = false;
    std::thread thread_;
};

// An engine in real time: the real committer over a store, as `sluice serve` runs it, without HTTP.
// Calls come from any thread, and throw when they are refused.
class RunningEngine {
  public:
    RunningEngine();  // on a memory store of its own
    explicit RunningEngine(Store& store);

    CommandQueue& commands() { return committer_; }
    Clock& clock() { return clock_; }
    void on_io_thread(std::function<void()> task) { tasks_.post(std::move(task)); }
    void stop_waiting() { committer_.stop_waiting(); }
    std::int64_t commits() const { return counter_.commits; }

    Job submit(JobSpec spec);
    std::vector<Job> submit_all(std::vector<JobSpec> specs);
    void cancel(JobId id);

    Job find(JobId id);
    std::vector<Event> events(JobId id);
    std::vector<LogLine> logs(JobId id);

    // The job as it is once it has ended, or after a while.
    Job wait_for_end(JobId id);

  private:
    struct Counter : Telemetry {
        std::atomic<std::int64_t> commits = 0;
        void committed(const CommitRecord& record) override { commits += record.commands > 0; }
    };

    std::unique_ptr<Store> own_;
    Store& store_;
    SystemClock clock_;
    Counter counter_;
    Engine engine_;
    TaskThread tasks_;
    Committer committer_;
};

// Asks again and again until `holds` returns true; false when it did not within `patience`.
bool comes_true(const std::function<bool()>& holds,
                std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace sluice
