#include "client/runner/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "client/link/reportable.hpp"

namespace sluice::client {
namespace {

constexpr std::size_t buffer_bytes = 4 * 1024 * 1024;
constexpr std::size_t scarce_buffer_bytes = 64 * 1024;  // when all attempts together fill much
constexpr std::size_t batch_lines = 500;
constexpr std::size_t lines_bytes = 256 * 1024;
constexpr std::size_t bytes_around_line = 128;  // names, time, number

// The approximate size of the text on the wire, where control characters are written as \u001b.
std::size_t wire_bytes(std::string_view text) {
    std::size_t bytes = text.size();
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20) {
            bytes += 5;
        } else if (c == '"' || c == '\\') {
            ++bytes;
        }
    }
    return bytes;
}

std::size_t wire_bytes(const LogEntry& line) {
    return wire_bytes(line.message) + line.data.size() + bytes_around_line;
}

Time wall_now() {
    return std::chrono::time_point_cast<Time::duration>(std::chrono::system_clock::now());
}

BootTime deadline_of(const Job& job, BootTime started) {
    return job.timeout > Millis{0} ? started + job.timeout : boot_never;
}

void raise(std::atomic<BootTime>& moment, BootTime to) {
    BootTime from = moment.load();
    while (from < to && !moment.compare_exchange_weak(from, to)) {
    }
}

}  // namespace

Attempt::Attempt(AttemptOwner& owner, LeasedJob leased, Moments moments)
    : owner_(owner),
      leased_(std::move(leased)),
      lease_(moments.lease),
      sure_until_(moments.claim_sent + moments.lease),
      kept_until_(moments.claim_sent + moments.lease),
      deadline_(deadline_of(leased_.job, moments.claim_answered)) {}

void Attempt::progress(int percent, std::string_view message) {
    {
        const std::lock_guard lock(mutex_);
        progress_ = Progress{std::clamp(percent, 0, 100),
                             clean_text(message, text_limits::progress_message)};
        has_progress_ = true;
    }
    owner_.progress_waits();
}

std::optional<Attempt::Progress> Attempt::take_progress() {
    const std::lock_guard lock(mutex_);
    has_progress_ = false;
    return std::exchange(progress_, std::nullopt);
}

void Attempt::restore_progress(Progress progress) {
    const std::lock_guard lock(mutex_);
    if (progress_) return;
    progress_ = std::move(progress);
    has_progress_ = true;
}

void Attempt::on_renewal(std::function<void(BootTime)> changed) {
    const std::lock_guard lock(renewal_mutex_);
    on_renewal_.push_back(std::move(changed));
}

void Attempt::renewed(BootTime sent, bool stop_requested) {
    raise(kept_until_, sent + lease_);
    if (stop_requested) return;
    raise(sure_until_, sent + lease_);
    const std::lock_guard lock(renewal_mutex_);
    for (const auto& changed : on_renewal_) changed(leased_until());
}

void Attempt::time_out() {
    {
        const std::lock_guard lock(mutex_);
        deadline_ = boot_never;
        if (returned_ || token_.requested()) return;
        add_line(Level::error, fmt::format("job timed out after {}ms", job().timeout.count()), {});
        token_.request(StopReason::deadline);
        space_.notify_all();
        if (std::exchange(lines_announced_, true)) return;
    }
    owner_.lines_wait(shared_from_this());
}

bool Attempt::stop(StopReason reason) {
    const std::lock_guard lock(mutex_);
    if (returned_) return false;
    token_.request(reason);
    space_.notify_all();
    return true;
}

bool Attempt::give_up() {
    if (over_.exchange(true)) return false;
    stop(StopReason::lease_lost);
    return true;
}

StopReason Attempt::has_returned() {
    {
        const std::lock_guard lock(renewal_mutex_);
        on_renewal_.clear();
    }
    const std::lock_guard lock(mutex_);
    returned_ = true;
    deadline_ = boot_never;
    return token_.reason();
}

bool Attempt::end(Ending ending) {
    {
        const std::lock_guard lock(mutex_);
        ending_ = std::move(ending);
        has_ending_ = true;
        if (dropped_lines_ > 0) {
            const std::string missing = dropped_lines_ == 1
                                            ? "1 log line is"
                                            : fmt::format("{} log lines are", dropped_lines_);
            add_line(Level::warn, missing + " missing here: the engine took none for too long", {});
        }
        if (lines_.empty() && !lines_announced_) return true;
        if (std::exchange(lines_announced_, true)) return false;
    }
    owner_.lines_wait(shared_from_this());
    return false;
}

void Attempt::write(Level level, std::string_view message, std::string_view data) {
    std::string clean_message = clean_text(message, text_limits::log_message);
    std::string clean_data = clean_log_data(data);
    {
        std::unique_lock lock(mutex_);
        if (has_ending_ || is_over()) return;
        if (!wait_for_space(lock)) {
            ++dropped_lines_;
            return;
        }
        add_line(level, std::move(clean_message), std::move(clean_data));
        if (std::exchange(lines_announced_, true)) return;
    }
    owner_.lines_wait(shared_from_this());
}

// Waits for space in the buffer. False: there is none, and the job should stop rather than wait for
// it.
bool Attempt::wait_for_space(std::unique_lock<std::mutex>& lock) {
    space_.wait(lock, [&] { return has_space() || token_.requested(); });
    return has_space();
}

// An attempt without space has lines on their way; when they are sent, this is asked again.
bool Attempt::has_space() const {
    const bool is_scarce = owner_.log_budget().is_used_up();
    return waiting_bytes_ < (is_scarce ? scarce_buffer_bytes : buffer_bytes);
}

void Attempt::add_line(Level level, std::string message, std::string data) {
    lines_.push_back({level, std::move(message), std::move(data), wall_now(), ++last_line_});
    const std::size_t bytes = wire_bytes(lines_.back());
    waiting_bytes_ += bytes;
    owner_.log_budget().add(bytes);
}

std::vector<LogEntry> Attempt::next_lines() {
    const std::lock_guard lock(mutex_);
    std::vector<LogEntry> batch;
    sending_bytes_ = 0;
    while (!lines_.empty() && batch.size() < batch_lines) {
        const std::size_t bytes = wire_bytes(lines_.front());
        if (!batch.empty() && sending_bytes_ + bytes > lines_bytes) break;
        sending_bytes_ += bytes;
        batch.push_back(std::move(lines_.front()));
        lines_.pop_front();
    }
    return batch;
}

Attempt::Next Attempt::lines_sent() {
    const std::lock_guard lock(mutex_);
    owner_.log_budget().subtract(sending_bytes_);
    waiting_bytes_ -= std::exchange(sending_bytes_, 0);
    space_.notify_all();
    if (!lines_.empty()) return Next::more_lines;
    lines_announced_ = false;
    return has_ending_ ? Next::ending : Next::nothing;
}

void Attempt::discard_lines() {
    const std::lock_guard lock(mutex_);
    lines_.clear();
    owner_.log_budget().subtract(waiting_bytes_ - sending_bytes_);
    waiting_bytes_ = sending_bytes_;
}

}  // namespace sluice::client
