// The loop of run()'s own thread.
#include <algorithm>

#include "client/runner/runner_core.hpp"

namespace sluice::client {

void Runner::Core::watch() {
    Stopping stopping;
    for (;;) {
        next_look_ = boot_never;  // a thread that adds an attempt from here on calls the alarm
        if (urgency_ >= when_done && !stopping_) stopping.tell_by = begin_stop();
        BootTime next = look_after_attempts();
        if (stopping_) {
            next = std::min(next, go_on_stopping(stopping));
            if (claims_ended_ && live_.size() == 0) return;
        }
        next_look_ = next;
        alarm_.sleep_until(next);
    }
}

// Returns when there is more to do, unless attempts end before.
BootTime Runner::Core::go_on_stopping(Stopping& stopping) {
    const BootTime now = boot_now();
    if (urgency_ >= at_once || now >= stopping.tell_by) {
        if (stopping.leave_by == boot_never) {
            for (const AttemptPtr& attempt : live_.all()) attempt->stop(StopReason::shutdown);
            stopping.leave_by = now + options_.stop_patience;
        }
        stopping.tell_by = boot_never;
    }
    if (now >= stopping.leave_by) leave_running();
    if (stopping.flush_by == boot_never && !something_runs()) {
        stopping.flush_by = now + options_.lease;
    }
    if (now >= stopping.flush_by) {
        for (const AttemptPtr& attempt : live_.all()) {
            contact_.lease_lost(*attempt, "the engine did not take its outcome in time");
        }
        stopping.flush_by = now + options_.lease;
    }
    if (now >= stopping.leave_by) return stopping.flush_by;
    return std::min({stopping.tell_by, stopping.leave_by, stopping.flush_by});
}

bool Runner::Core::something_runs() const {
    const std::vector<AttemptPtr> attempts = live_.all();
    return std::any_of(attempts.begin(), attempts.end(),
                       [](const AttemptPtr& attempt) { return attempt->is_running(); });
}

// Handles deadlines and leases that have run out. Returns when the next one is due.
BootTime Runner::Core::look_after_attempts() {
    BootTime next = boot_never;
    const BootTime now = boot_now();
    for (const AttemptPtr& attempt : live_.all()) {
        if (attempt->is_over()) continue;
        if (attempt->deadline() <= now) attempt->time_out();
        if (attempt->kept_until() <= now) {
            contact_.lease_lost(*attempt, "its lease could not be renewed in time");
            continue;
        }
        BootTime lost_at = attempt->leased_until();
        if (lost_at <= now) {
            attempt->stop(StopReason::lease_lost);
            lost_at = attempt->kept_until();
        }
        next = std::min({next, attempt->deadline(), lost_at});
    }
    return next;
}

BootTime Runner::Core::begin_stop() {
    {
        const std::lock_guard lock(pause_mutex_);
        stopping_ = true;
    }
    pause_ended_.notify_all();
    slots_->close();
    desk_.stop_waiting();
    return boot_now() + options_.shutdown_grace;
}

// Jobs that do not stop keep their leases, which are not renewed any more: no other worker gets
// them before these have run out.
void Runner::Core::leave_running() {
    for (const AttemptPtr& attempt : live_.all()) {
        if (!attempt->is_running()) continue;
        contact_.lease_lost(*attempt, "it does not stop, and is left to the end of its lease");
        live_.remove(attempt);
    }
}

}  // namespace sluice::client
