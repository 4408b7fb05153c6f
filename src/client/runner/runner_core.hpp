#pragma once

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>

#include "client/runner/alarm.hpp"
#include "client/runner/heartbeats.hpp"
#include "client/runner/log_sender.hpp"
#include "client/runner/reporter.hpp"
#include "client/runner/runner.hpp"
#include "client/runner/slots.hpp"

namespace sluice::client {

// The threads of a runner:
//
//   claim thread       asks for as many jobs as slots are free, and waits for them at the engine
//   slot threads       each runs a worker's execute()
//   log threads        send log lines (LogSender)
//   report thread      sends outcomes (Reporter)
//   heartbeat thread   renews leases (HeartbeatSender)
//   run()'s own        watches deadlines and ends of leases, and stops the others
//
// An attempt goes from the claim to a slot, through the log sender if it has lines left, to the
// reporter, and is live until the engine has taken its outcome, or it is lost.
class Runner::Core : public AttemptOwner, public std::enable_shared_from_this<Core> {
  public:
    Core(Desk& desk, RunnerOptions options);

    void handle(std::string type, std::shared_ptr<JobWorker> worker) {
        workers_[std::move(type)] = std::move(worker);
    }
    void handle_any(std::shared_ptr<JobWorker> worker) { any_worker_ = std::move(worker); }

    void run();
    void stop(int urgency);

    void lines_wait(AttemptPtr attempt) override { logs_.push(std::move(attempt)); }
    void progress_waits() override { heart_.progress_waits(); }
    LogBudget& log_budget() override { return log_budget_; }

  private:
    enum Urgency { none, when_done, at_once };

    // The moments of a stop.
    struct Stopping {
        BootTime tell_by = boot_never;   // jobs that still run are told to stop
        BootTime leave_by = boot_never;  // jobs that still run are left alone
        BootTime flush_by = boot_never;  // outcomes that still wait are dropped
    };

    void check_options() const;
    void end_threads();
    std::vector<std::string> claimed_types() const;

    void claim_until_stopped();
    void accept(std::vector<LeasedJob> jobs, BootTime sent);
    void pause_claims(Millis time);

    Ending execute(const AttemptPtr& attempt);
    void hand_back_unstarted(const AttemptPtr& attempt);
    void ended(const AttemptPtr& attempt, Ending ending);
    void finish(const AttemptPtr& attempt);
    void done(const AttemptPtr& attempt);

    void watch();
    BootTime look_after_attempts();
    BootTime begin_stop();
    BootTime go_on_stopping(Stopping& stopping);
    bool something_runs() const;
    void leave_running();

    Desk& desk_;
    const RunnerOptions options_;
    std::map<std::string, std::shared_ptr<JobWorker>> workers_;
    std::shared_ptr<JobWorker> any_worker_;

    Alarm alarm_;
    std::atomic<int> urgency_ = none;  // of the stop
    std::atomic<bool> stopping_ = false;
    std::atomic<bool> claims_ended_ = false;
    std::atomic<BootTime> next_look_{};  // when the watching thread looks at attempts again
    std::exception_ptr failure_;         // of the claim thread

    LogBudget log_budget_;
    LiveAttempts live_;
    EngineContact contact_;
    HeartbeatSender heart_;
    Reporter reporter_;
    LogSender logs_;
    std::shared_ptr<Slots> slots_;
    std::mutex pause_mutex_;
    std::condition_variable pause_ended_;
};

}  // namespace sluice::client
