#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "application/engine/engine.hpp"
#include "application/ports/clock.hpp"
#include "application/ports/command_queue.hpp"
#include "application/ports/wakeups.hpp"

namespace sluice {

// The thread that writes, or one of a few. It takes all commands that have arrived, has the engine
// decide them in one transaction, and delivers the answers; commands that arrive meanwhile are the
// next batch. Without commands it sleeps until the engine has work of its own.
class Committer : public CommandQueue {
  public:
    // Called on the committing thread with answers that are ready to be delivered, and the jobs
    // they touched.
    using Deliver = std::function<void(std::shared_ptr<Batch> answers, std::vector<JobId> touched)>;

    // `wakeups` gets the news of each commit for other committers, where there are others.
    Committer(Engine& engine, Clock& clock, Telemetry& telemetry, Deliver deliver,
              Wakeups* wakeups = nullptr);

    // Answers all commands that have arrived, and waiting claims with no jobs, and then stops the
    // thread.
    ~Committer() override;

    void forget(std::uint64_t ticket) override;

    // A commit that has been under way for too long is a reason by itself.
    void ask_ready(std::function<void(std::optional<Error>)> done) override;

    // Other committers have made jobs claimable, or something may be due at `due`. Called by any
    // thread.
    void hint(const std::vector<Readied>& readied, Timestamp due);

    // From now on no claim waits: waiting claims are answered with no jobs.
    void stop_waiting();

  protected:
    void append(Load load, const std::function<void(Batch&)>& put);
    bool add(Route route, Load load, const std::function<void(Batch&)>& put) override;
    friend class CommitterPool;

  private:
    struct Incoming {
        Batch batch;
        Load load{};
    };

    // An error while a commit has been under way for too long.
    std::optional<Error> why_stuck();
    void run();
    bool wait_for_work(std::unique_lock<std::mutex>& lock);
    Batch next_batch();
    void commit(Batch batch);
    void log_health(const std::string& failure);
    void log_space(StoreSpace space);
    void log_duties(const std::vector<DutyRun>& runs);

    Engine& engine_;
    Clock& clock_;
    Telemetry& telemetry_;
    Deliver deliver_;
    Wakeups* wakeups_;
    std::string last_failure_;
    StoreSpace last_space_ = StoreSpace::ample;
    std::map<std::string_view, std::string> failed_duties_;  // and why

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<Incoming> incoming_;
    Load waiting_;
    // Whether the thread sleeps, and for which changes it must be woken: others need not wake it.
    bool sleeps_ = false;
    bool claims_wait_ = false;
    Timestamp sleeps_until_ = never;
    std::optional<Duration> commits_since_;  // since boot; nothing: no commit is under way
    bool drain_ = false;                     // let no claim wait
    bool stop_ = false;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace sluice
