#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "application/engine.hpp"
#include "application/ports/clock.hpp"
#include "application/ports/command_queue.hpp"

namespace sluice {

// The one thread that writes. It takes everything that has arrived, has the engine decide it in one
// transaction, and hands the answers out; whatever arrives meanwhile is the next batch. When
// nothing arrives it sleeps until the engine has something to do by itself.
class Committer : public CommandQueue {
  public:
    // Called on the committing thread with answers that are ready to be delivered, and the jobs
    // they touched.
    using Deliver = std::function<void(std::shared_ptr<Batch> answers, std::vector<JobId> touched)>;

    Committer(Engine& engine, Clock& clock, Telemetry& telemetry, Deliver deliver);

    // Answers what has arrived, and waiting claims with nothing, and then stops the thread.
    ~Committer() override;

    void forget(std::uint64_t ticket) override;

    // From now on no claim waits: those that do are answered with nothing.
    void stop_waiting();

  protected:
    bool add(std::size_t rows, const std::function<void(Batch&)>& put) override;

  private:
    struct Incoming {
        Batch batch;
        std::size_t rows = 0;
    };

    void run();
    bool wait_for_work(std::unique_lock<std::mutex>& lock);
    Batch next_batch();
    void commit(Batch batch);
    void log_health(const std::string& failure);

    Engine& engine_;
    Clock& clock_;
    Telemetry& telemetry_;
    Deliver deliver_;
    std::string last_failure_;

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<Incoming> incoming_;
    std::size_t waiting_rows_ = 0;
    bool drain_ = false;  // let no claim wait
    bool stop_ = false;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace sluice
