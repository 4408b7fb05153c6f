#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/link/boot_time.hpp"
#include "client/runner/desk.hpp"

namespace sluice::client {

class Attempt;

// The bytes of waiting log lines of all attempts. Any thread.
class LogBudget {
  public:
    void add(std::size_t bytes) { waiting_ += bytes; }
    void subtract(std::size_t bytes) { waiting_ -= bytes; }
    bool is_used_up() const { return waiting_ > bytes_max; }

  private:
    static constexpr std::size_t bytes_max = 64 * 1024 * 1024;

    std::atomic<std::size_t> waiting_ = 0;
};

// The owner of attempts, which is told when one has something to send.
class AttemptOwner {
  public:
    virtual ~AttemptOwner() = default;
    virtual void lines_wait(std::shared_ptr<Attempt> attempt) = 0;
    virtual void progress_waits() = 0;
    virtual LogBudget& log_budget() = 0;
};

// The way in which the runner is to end an attempt.
struct Ending {
    enum class How { report, hand_back, drop };
    How how = How::report;
    Outcome outcome{};
    bool was_refused = false;  // the outcome replaces one that the engine refused
};

// One job that this process holds a lease on, from the claim until the engine has taken its
// outcome. It is the worker's Context. Any thread.
class Attempt : public Context, private Logger, public std::enable_shared_from_this<Attempt> {
  public:
    struct Moments {
        BootTime claim_sent{};
        BootTime claim_answered{};
        Millis lease{};
    };

    Attempt(AttemptOwner& owner, LeasedJob leased, Moments moments);

    const Job& job() const { return leased_.job; }

    // ── as a worker sees it ──
    Logger& log() override { return *this; }
    const CancelToken& cancel() const override { return token_; }
    void progress(int percent, std::string_view message) override;
    const std::string& lease_id() const override { return leased_.lease_id; }
    BootTime leased_until() const override { return sure_until_.load(); }
    void on_renewal(std::function<void(BootTime)> changed) override;

    // ── times ──
    BootTime deadline() const { return deadline_.load(); }
    // Until then the engine may still hold the lease for this worker. Never before leased_until().
    BootTime kept_until() const { return kept_until_.load(); }
    // The engine has renewed the lease, by a heartbeat that was sent at this moment. When it also
    // wants the job to stop, this may be the last term, and leased_until() does not grow.
    void renewed(BootTime sent, bool stop_requested);
    // The attempt has used up its time: writes that to the log and asks the job to stop.
    void time_out();

    // ── the end ──

    // Asks the worker to stop, unless it has returned already; returns whether it runs.
    bool stop(StopReason reason);
    // No result or line of it matters any more. Returns false when that was known.
    bool give_up();
    bool is_over() const { return over_.load(); }
    // The worker has returned: from now on it is not asked to stop, and no renewal calls it.
    // Returns why it was asked to, if it was.
    StopReason has_returned();
    bool is_running() const { return !returned_.load(); }
    // Sets how the attempt ends. Returns whether that can be done now; if not, lines have to be
    // sent first, and lines_sent() will say so.
    bool end(Ending ending);
    Ending& ending() { return ending_; }

    // ── lines and progress to send ──

    // The next lines to send, in order. One thread at a time, then lines_sent().
    std::vector<LogEntry> next_lines();
    enum class Next { more_lines, nothing, ending };
    Next lines_sent();
    void discard_lines();

    struct Progress {
        int percent = 0;
        std::string message{};
    };
    std::optional<Progress> take_progress();
    void restore_progress(Progress progress);  // unless there is newer progress
    bool has_progress() const { return has_progress_.load(); }

    // A report was sent, so the engine may have closed the lease because of it.
    void mark_report_sent() { report_sent_ = true; }
    bool is_report_sent() const { return report_sent_.load(); }

  private:
    void write(Level level, std::string_view message, std::string_view data) override;
    void add_line(Level level, std::string message, std::string data);
    bool has_space() const;
    bool wait_for_space(std::unique_lock<std::mutex>& lock);

    AttemptOwner& owner_;
    const LeasedJob leased_;
    const Millis lease_;
    CancelToken token_;
    std::atomic<BootTime> sure_until_;
    std::atomic<BootTime> kept_until_;
    std::atomic<BootTime> deadline_;
    std::atomic<bool> over_ = false;
    std::atomic<bool> returned_ = false;  // changed under the lock
    std::atomic<bool> has_progress_ = false;
    std::atomic<bool> report_sent_ = false;

    std::mutex mutex_;
    std::condition_variable space_;  // space for lines, or no need for it
    std::deque<LogEntry> lines_;
    std::size_t waiting_bytes_ = 0;  // of lines that are not sent, including those on their way
    std::size_t sending_bytes_ = 0;
    std::int64_t last_line_ = 0;
    std::int64_t dropped_lines_ = 0;
    bool lines_announced_ = false;  // to the owner, which has not sent them all yet
    bool has_ending_ = false;
    Ending ending_;
    std::optional<Progress> progress_;

    std::mutex renewal_mutex_;  // held while callbacks run
    std::vector<std::function<void(BootTime)>> on_renewal_;
};

}  // namespace sluice::client
