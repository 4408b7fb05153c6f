#include "client/runner/reporter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "client/link/reportable.hpp"

namespace sluice::client {
namespace {

constexpr std::size_t batch_reports = 500;
constexpr std::size_t reports_bytes = 512 * 1024;
constexpr Millis report_pause_max{2'000};
constexpr const char* refused_code = "REPORT_REFUSED";
constexpr const char* stopping_reason = "worker is stopping";

std::size_t bytes_of(const Outcome& outcome) {
    return outcome.result.size() + outcome.error_message.size();
}

bool is_report(const AttemptPtr& attempt) {
    return attempt->ending().how == Ending::How::report;
}

// After a cancel or a deadline the engine has ended the job itself, and a report with another
// outcome is expected to be refused.
bool is_end_expected(const Attempt& attempt) {
    const StopReason reason = attempt.cancel().reason();
    return reason == StopReason::canceled || reason == StopReason::deadline;
}

std::vector<ReportRequest> requests_of(const std::vector<AttemptPtr>& batch) {
    std::vector<ReportRequest> requests;
    requests.reserve(batch.size());
    for (const AttemptPtr& attempt : batch) {
        requests.push_back({attempt->lease_id(), attempt->ending().outcome});
    }
    return requests;
}

}  // namespace

Reporter::Reporter(Desk& desk, EngineContact& contact, std::function<void(const AttemptPtr&)> done)
    : desk_(desk), contact_(contact), done_(std::move(done)), pause_(report_pause_max) {}

void Reporter::start() {
    thread_ = std::thread([this] { run(); });
}

void Reporter::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    pushed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Reporter::push(AttemptPtr attempt) {
    bool is_first = false;
    {
        const std::lock_guard lock(mutex_);
        is_first = queue_.empty();
        queue_.push_back(std::move(attempt));
    }
    if (is_first) pushed_.notify_one();
}

void Reporter::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        pushed_.wait(lock, [&] { return !queue_.empty() || stop_; });
        if (queue_.empty()) return;
        std::vector<AttemptPtr> batch = next_batch();
        lock.unlock();
        send(std::move(batch));
        lock.lock();
    }
}

// Reports up to the limits of one call, or one attempt that needs another kind of call.
std::vector<AttemptPtr> Reporter::next_batch() {
    std::vector<AttemptPtr> batch;
    std::size_t bytes = 0;
    while (!queue_.empty() && batch.size() < batch_reports) {
        bytes += bytes_of(queue_.front()->ending().outcome);
        const bool fits = is_report(queue_.front()) && bytes <= reports_bytes;
        if (!batch.empty() && !fits) break;
        batch.push_back(std::move(queue_.front()));
        queue_.pop_front();
        if (!is_report(batch.back())) break;
    }
    return batch;
}

void Reporter::send(std::vector<AttemptPtr> batch) {
    std::erase_if(batch, [&](const AttemptPtr& attempt) {
        if (!attempt->is_over()) return false;
        done_(attempt);
        return true;
    });
    const bool answered =
        batch.empty() || (is_report(batch.front()) ? report(batch) : hand_back(batch.front()));
    if (!answered) return try_later(std::move(batch));
    pause_.reset();
    contact_.answered(EngineContact::reports);
}

// Removes the attempts that the engine has answered from the batch. False: it did not answer all.
bool Reporter::report(std::vector<AttemptPtr>& batch) {
    for (const AttemptPtr& attempt : batch) attempt->mark_report_sent();
    try {
        const std::vector<LeaseAnswer> answers = desk_.report(requests_of(batch));
        if (answers.size() != batch.size()) {
            throw Error(ErrorKind::unreachable, 0, "", "the answer to a report is not complete");
        }
        return take_answers(batch, answers);
    } catch (const Error& error) {
        if (is_passing(error)) {
            contact_.failed(EngineContact::reports, error.what());
            asked_pause_ = error.retry_after();
            return false;
        }
        if (batch.size() > 1) return report_each(batch);
        return report_refusal(batch, error.what());
    }
}

bool Reporter::take_answers(std::vector<AttemptPtr>& batch,
                            const std::vector<LeaseAnswer>& answers) {
    std::vector<AttemptPtr> refused;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (answers[i] == LeaseAnswer::refused) {
            refused.push_back(batch[i]);
        } else {
            close(batch[i], answers[i]);
        }
    }
    const bool was_alone = batch.size() == 1;
    batch = std::move(refused);
    if (batch.empty()) return true;
    return was_alone ? report_refusal(batch, "it gives no reason") : report_each(batch);
}

// An outcome that the engine refuses must not be dropped, or the lease would run out and the job
// run again, to the same end. So the one attempt of the batch fails instead, for good.
bool Reporter::report_refusal(std::vector<AttemptPtr>& batch, std::string_view why) {
    Ending& ending = batch.front()->ending();
    if (ending.was_refused) {
        drop(batch.front(), why);
        batch.clear();
        return true;
    }
    ending.was_refused = true;
    ending.outcome = Outcome::failed(
        refused_code,
        clean_text(fmt::format("the engine refuses the outcome of this attempt: {}", why),
                   text_limits::error_message),
        false);
    if (!is_end_expected(*batch.front())) {
        contact_.tell(Level::warn, *batch.front(),
                      fmt::format("its outcome is refused, and it fails instead: {}", why));
    }
    return report(batch);
}

// The engine refuses the call as a whole, or some of it: sends each report alone to learn why.
bool Reporter::report_each(std::vector<AttemptPtr>& batch) {
    while (!batch.empty()) {
        std::vector<AttemptPtr> one{batch.front()};
        if (!report(one)) return false;
        batch.erase(batch.begin());
    }
    return true;
}

bool Reporter::hand_back(const AttemptPtr& attempt) {
    attempt->mark_report_sent();
    try {
        close(attempt, desk_.release(attempt->lease_id(), stopping_reason));
        return true;
    } catch (const Error& error) {
        if (!is_passing(error)) {
            drop(attempt, error.what());
            return true;
        }
        contact_.failed(EngineContact::reports, error.what());
        asked_pause_ = error.retry_after();
        return false;
    }
}

// The engine's answer is final.
void Reporter::close(const AttemptPtr& attempt, LeaseAnswer answer) {
    if (answer == LeaseAnswer::lost) return drop(attempt, "the lease has ended");
    if (answer == LeaseAnswer::refused)
        return drop(attempt, "the engine has ended the job already");
    done_(attempt);
}

void Reporter::drop(const AttemptPtr& attempt, std::string_view why) {
    if (is_report(attempt) && !is_end_expected(*attempt)) {
        contact_.tell(Level::warn, *attempt, fmt::format("its outcome is dropped: {}", why));
    }
    done_(attempt);
}

void Reporter::try_later(std::vector<AttemptPtr> batch) {
    BootTime pause = pause_.next(std::exchange(asked_pause_, Millis{0}));
    const BootTime now = boot_now();
    for (const AttemptPtr& attempt : batch) {
        pause = std::min(pause, std::max(attempt->kept_until() - now, BootTime(Millis(10))));
    }
    std::unique_lock lock(mutex_);
    for (auto at = batch.rbegin(); at != batch.rend(); ++at) queue_.push_front(std::move(*at));
    pushed_.wait_for(lock, pause, [&] { return stop_; });
}

}  // namespace sluice::client
