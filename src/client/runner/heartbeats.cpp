#include "client/runner/heartbeats.hpp"

namespace sluice::client {
namespace {

constexpr std::size_t batch_leases = 500;
constexpr Millis period_max{3'000};
constexpr Millis progress_period{200};
// A stop that the engine requests this short before the attempt's own deadline counts as that
// deadline.
constexpr Millis deadline_margin{200};

HeartbeatRequest request_of(const Attempt& attempt,
                            const std::optional<Attempt::Progress>& progress) {
    HeartbeatRequest request{.lease_id = attempt.lease_id()};
    if (progress) {
        request.progress = progress->percent;
        request.message = progress->message;
    }
    return request;
}

}  // namespace

HeartbeatSender::HeartbeatSender(Desk& desk, LiveAttempts& live, EngineContact& contact,
                                 Millis lease)
    : desk_(desk),
      live_(live),
      contact_(contact),
      period_(std::min(lease / 3, period_max)),
      pause_(std::min(period_, Millis(2'000))) {}

void HeartbeatSender::start() {
    thread_ = std::thread([this] { run(); });
}

void HeartbeatSender::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    called_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void HeartbeatSender::attempts_came() {
    const std::lock_guard lock(mutex_);
    if (!is_asleep_) return;
    is_asleep_ = false;
    next_beat_ = Clock::now() + period_;
    called_.notify_all();
}

void HeartbeatSender::progress_waits() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(has_progress_, true)) return;
    called_.notify_all();
}

void HeartbeatSender::run() {
    std::unique_lock lock(mutex_);
    next_beat_ = Clock::now() + period_;
    while (wait_for_beat(lock)) {
        const auto now = Clock::now();
        const bool all = !is_asleep_ && now >= next_beat_;
        has_progress_ = false;
        next_progress_ = now + progress_period;
        if (all) {
            next_beat_ = now + period_;
            is_asleep_ = live_.size() == 0;
        }
        lock.unlock();
        beat(all);
        lock.lock();
    }
}

// False: the thread has to stop.
bool HeartbeatSender::wait_for_beat(std::unique_lock<std::mutex>& lock) {
    while (!stop_) {
        auto due = is_asleep_ ? Clock::time_point::max() : next_beat_;
        if (has_progress_) due = std::min(due, next_progress_);
        if (due <= Clock::now()) return true;
        if (due == Clock::time_point::max()) {
            called_.wait(lock);
        } else {
            called_.wait_until(lock, due);
        }
    }
    return false;
}

void HeartbeatSender::beat(bool all) {
    std::vector<AttemptPtr> attempts;
    for (AttemptPtr& attempt : live_.all()) {
        if (!attempt->is_over() && (all || attempt->has_progress())) {
            attempts.push_back(std::move(attempt));
        }
    }
    if (attempts.empty()) return contact_.answered(EngineContact::heartbeats);
    bool renewed = true;
    for (std::span<const AttemptPtr> rest = attempts; renewed && !rest.empty();) {
        const auto some = rest.first(std::min(rest.size(), batch_leases));
        renewed = renew(some);
        rest = rest.subspan(some.size());
    }
    if (renewed) return pause_.reset();
    const std::lock_guard lock(mutex_);
    next_beat_ = std::min(next_beat_, Clock::now() + pause_.next());
}

bool HeartbeatSender::renew(std::span<const AttemptPtr> attempts) {
    std::vector<std::optional<Attempt::Progress>> told;
    std::vector<HeartbeatRequest> requests;
    for (const AttemptPtr& attempt : attempts) {
        told.push_back(attempt->take_progress());
        requests.push_back(request_of(*attempt, told.back()));
    }
    const BootTime sent = boot_now();
    try {
        const std::vector<LeaseAnswer> answers = desk_.heartbeat(requests);
        for (std::size_t i = 0; i < std::min(answers.size(), attempts.size()); ++i) {
            heed(attempts[i], answers[i], sent);
        }
        contact_.answered(EngineContact::heartbeats);
        return true;
    } catch (const std::exception& error) {
        for (std::size_t i = 0; i < attempts.size(); ++i) {
            if (told[i]) attempts[i]->restore_progress(*std::move(told[i]));
        }
        contact_.failed(EngineContact::heartbeats, error.what());
        return false;
    }
}

void HeartbeatSender::heed(const AttemptPtr& attempt, LeaseAnswer answer, BootTime sent) {
    switch (answer) {
        case LeaseAnswer::held: attempt->renewed(sent, false); return;
        case LeaseAnswer::stop_requested:
            attempt->renewed(sent, true);
            if (attempt->deadline() > boot_now() + deadline_margin) {
                attempt->stop(StopReason::canceled);
            }
            return;
        case LeaseAnswer::lost:
            // A report that was taken has closed the lease, too; its own answer says so.
            if (attempt->is_report_sent()) return;
            return contact_.lease_lost(*attempt, "the engine says that the lease has ended");
        case LeaseAnswer::refused:
            return contact_.tell(Level::error, *attempt, "the engine refuses to renew the lease");
    }
}

}  // namespace sluice::client
