#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "application/engine.hpp"
#include "application/ports/clock.hpp"
#include "application/ports/command_queue.hpp"
#include "application/ports/wakeups.hpp"

namespace sluice {

// The one thread that writes, or one of a few. It takes everything that has arrived, has the engine
// decide it in one transaction, and hands the answers out; whatever arrives meanwhile is the next
// batch. When nothing arrives it sleeps until the engine has something to do by itself.
class Committer : public CommandQueue {
  public:
    // Called on the committing thread with answers that are ready to be delivered, and the jobs
    // they touched.
    using Deliver = std::function<void(std::shared_ptr<Batch> answers, std::vector<JobId> touched)>;

    // `wakeups` hears what each commit means to others, where there are others.
    Committer(Engine& engine, Clock& clock, Telemetry& telemetry, Deliver deliver,
              Wakeups* wakeups = nullptr);

    // Answers what has arrived, and waiting claims with nothing, and then stops the thread.
    ~Committer() override;

    void forget(std::uint64_t ticket) override;

    // A commit that has been under way for too long is a reason by itself.
    void ask_ready(std::function<void(std::optional<Error>)> done) override;

    // Others have made something claimable, or there may be something to look at when it is `due`.
    // Called by any thread.
    void hint(const std::vector<Readied>& readied, Timestamp due);

    // From now on no claim waits: those that do are answered with nothing.
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

    // Says so while a commit has been under way for too long.
    std::optional<Error> why_stuck();
    void run();
    bool wait_for_work(std::unique_lock<std::mutex>& lock);
    Batch next_batch();
    void commit(Batch batch);
    void log_health(const std::string& failure);
    void log_room(StoreRoom room);
    void log_duties(const std::vector<DutyRun>& runs);

    Engine& engine_;
    Clock& clock_;
    Telemetry& telemetry_;
    Deliver deliver_;
    Wakeups* wakeups_;
    std::string last_failure_;
    StoreRoom last_room_ = StoreRoom::roomy;
    std::map<std::string_view, std::string> failed_duties_;  // and why

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<Incoming> incoming_;
    Load waiting_;
    // What the thread sleeps for, while it does: others need not wake it for less.
    bool sleeps_ = false;
    bool claims_wait_ = false;
    Timestamp sleeps_until_ = never;
    std::optional<Duration> commits_since_;  // since boot; nothing: no commit is under way
    bool drain_ = false;                     // let no claim wait
    bool stop_ = false;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace sluice
