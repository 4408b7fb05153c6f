#include "client/runner/log_sender.hpp"

#include <fmt/format.h>

#include "client/link/repeat_pause.hpp"

namespace sluice::client {
namespace {

constexpr Millis log_pause_max{2'000};
// While the engine's disk is full it stores few lines, but reports: the report of a job that has
// ended must not wait for space for its lines.
constexpr int tries_on_a_full_disk = 3;

}  // namespace

LogSender::LogSender(Desk& desk, EngineContact& contact,
                     std::function<void(const AttemptPtr&)> ended)
    : desk_(desk), contact_(contact), ended_(std::move(ended)) {}

void LogSender::start(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

void LogSender::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    pushed_.notify_all();
    stopped_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void LogSender::push(AttemptPtr attempt) {
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(attempt));
    }
    pushed_.notify_one();
}

void LogSender::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        pushed_.wait(lock, [&] { return !queue_.empty() || stop_; });
        if (queue_.empty()) return;
        const AttemptPtr attempt = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        send_batch(attempt);
        lock.lock();
    }
}

void LogSender::send_batch(const AttemptPtr& attempt) {
    const std::vector<LogEntry> lines = attempt->next_lines();
    switch (send(*attempt, lines)) {
        case LeaseAnswer::held:
        case LeaseAnswer::stop_requested: break;
        case LeaseAnswer::lost:
            contact_.lease_lost(*attempt, "the engine says that the lease has ended");
            break;
        case LeaseAnswer::refused:
            contact_.tell(Level::error, *attempt,
                          fmt::format("the engine refuses {} log lines", lines.size()));
            break;
    }
    if (attempt->is_over()) attempt->discard_lines();
    switch (attempt->lines_sent()) {
        case Attempt::Next::more_lines: return push(attempt);
        case Attempt::Next::ending: return ended_(attempt);
        case Attempt::Next::nothing: return;
    }
}

// Sends the lines until they are taken, or are of no use any more.
LeaseAnswer LogSender::send(const Attempt& attempt, const std::vector<LogEntry>& lines) {
    LeaseAnswer word = LeaseAnswer::held;
    int found_full = 0;
    for (RepeatPause pauses(log_pause_max); !lines.empty() && !attempt.is_over();) {
        try {
            word = desk_.append_logs(attempt.lease_id(), lines);
            break;
        } catch (const Error& error) {
            if (error.code() == "store_full") ++found_full;
            if (!is_passing(error) || found_full == tries_on_a_full_disk) {
                contact_.tell(Level::error, attempt, error.what());
                word = LeaseAnswer::refused;
                break;
            }
            contact_.failed(EngineContact::logs, error.what());
            pause(pauses.next(error.retry_after()));
        }
    }
    contact_.answered(EngineContact::logs);
    return word;
}

void LogSender::pause(Millis time) {
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, time, [&] { return stop_; });
}

}  // namespace sluice::client
