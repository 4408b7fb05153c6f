#include "interfaces/cli/jobs/live_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "domain/values/time.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/json_object.hpp"

namespace sluice::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto frame_period = 100ms;
constexpr std::size_t bar_width = 20;

std::string bar(const Screen& screen, int percent) {
    const auto filled = static_cast<std::size_t>(std::clamp(percent, 0, 100)) * bar_width / 100;
    std::string out;
    for (std::size_t i = 0; i < bar_width; ++i) {
        out += i < filled ? screen.symbol("█", "#") : screen.symbol("░", ".");
    }
    return out;
}

std::string attempt_text(int attempt, int max_attempts) {
    return max_attempts > 0 ? fmt::format("attempt {}/{}", attempt, max_attempts)
                            : fmt::format("attempt {}", attempt);
}

// "E_HELM: timed out", or as much of it as there is.
std::string error_text(const JsonObject& detail) {
    const std::string code = detail.text("error_code");
    const std::string message = detail.text("error_message");
    return printable(code.empty() || message.empty() ? code + message : code + ": " + message);
}

}  // namespace

std::string printable_lines(std::string_view text) {
    std::string out;
    while (true) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        out += printable(line);
        if (end == std::string_view::npos || end + 1 == text.size()) return out;
        out += "\n    ";
        text.remove_prefix(end + 1);
    }
}

std::string log_text(const Screen& screen, const client::LogLine& line) {
    std::string out = screen.painted(Style::dim, time_of_day(line.at)) + " ";
    if (line.level == client::Level::error) out += screen.painted(Style::red, "ERROR ");
    if (line.level == client::Level::warn) out += screen.painted(Style::yellow, "WARN ");
    return out + printable_lines(line.message);
}

LiveView::LiveView(const Session& session, const client::Job& job)
    : session_(session),
      screen_(session.err()),
      id_(job.id),
      max_attempts_(job.max_attempts),
      since_(job.created_at.value_or(now())),
      watcher_(session.options(), job.id) {}

LiveView::~LiveView() {
    close();
}

void LiveView::close() {
    erase_live_line();
    is_closed_ = true;
}

void LiveView::show(const client::Update& update) {
    if (update.line) print(log_text(screen_, *update.line));
    if (update.status) show_status(*update.status);
}

void LiveView::show_status(const client::Update::Status& status) {
    const JsonObject whole(status.json);
    const std::string* raw_detail = whole.raw("detail");
    const JsonObject detail(raw_detail ? std::string_view(*raw_detail) : std::string_view());
    state_ = status.state;
    attempt_ = status.attempt;
    since_ = status.at;
    last_change_.clear();
    watcher_.state_changed(status.state);
    const std::string attempt = attempt_text(status.attempt, max_attempts_);
    if (status.type == "claimed") {
        if (!screen_.can_redraw) print(fmt::format("{} started", attempt));
    } else if (status.type == "retried") {
        const auto next = parse_rfc3339(detail.text("run_after"));
        const Duration pause = next ? *next - status.at : Duration::zero();
        const std::string error = error_text(detail);
        print(fmt::format("{} {} failed{}{}, {}",
                          screen_.painted(Style::red, screen_.symbol("✖", "x")), attempt,
                          error.empty() ? "" : ": ", error,
                          pause > Duration::zero() ? "retry in " + stopwatch(pause) : "retry now"));
    } else if (status.type == "lease_expired") {
        print(fmt::format("{} {} lost its worker, the job runs again",
                          screen_.painted(Style::yellow, "!"), attempt));
    } else if (status.type == "handed_back") {
        print(fmt::format("{} its worker stopped and handed the job back",
                          screen_.painted(Style::yellow, "!")));
    }
}

void LiveView::print(const std::string& line) {
    if (is_closed_ || session_.is_quiet()) return;
    erase_live_line();
    write_to(screen_, line + "\n");
}

void LiveView::tick() {
    if (is_closed_ || session_.is_quiet() || client::is_final(state_)) return;
    if (!screen_.can_redraw) return note_change();
    const auto time = std::chrono::steady_clock::now();
    if (time - last_frame_ < frame_period) return;
    last_frame_ = time;
    ++frame_;
    draw_live_line(live_text(watcher_.seen()));
}

// Where a line cannot be drawn over, only changes are printed.
void LiveView::note_change() {
    const JobWatcher::Seen seen = watcher_.seen();
    std::string change;
    if (state_ == client::State::queued && !seen.waiting_for.empty()) {
        change = "queued: " + printable(seen.waiting_for);
    }
    if (state_ == client::State::running && seen.progress) {
        change = fmt::format("progress {}% {}", *seen.progress, printable(seen.message));
        change.erase(change.find_last_not_of(' ') + 1);
    }
    const std::string& what = state_ == client::State::queued ? seen.reason : change;
    if (change.empty() || what == last_change_) return;
    last_change_ = what;
    print(change);
}

std::string LiveView::live_text(const JobWatcher::Seen& seen) const {
    return state_ == client::State::running ? running_text(seen) : queued_text(seen);
}

std::string LiveView::queued_text(const JobWatcher::Seen& seen) const {
    static constexpr auto frames =
        std::to_array<const char*>({"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"});
    static constexpr auto plain_frames = std::to_array<const char*>({"|", "/", "-", "\\"});
    const auto turn = static_cast<std::size_t>(frame_);
    const char* spinner = screen_.has_symbols ? frames[turn % frames.size()]
                                              : plain_frames[turn % plain_frames.size()];
    std::string out = fmt::format("{} queued {}", spinner, stopwatch(now() - since_));
    if (!seen.waiting_for.empty()) out += "  waiting: " + printable(seen.waiting_for);
    return out;
}

std::string LiveView::running_text(const JobWatcher::Seen& seen) const {
    std::string out =
        fmt::format("{} {}", screen_.symbol("▶", ">"), attempt_text(attempt_, max_attempts_));
    if (!seen.worker.empty()) out += " on " + clipped(printable(seen.worker), 24);
    if (seen.progress) {
        out += fmt::format("  {} {:3}%", bar(screen_, *seen.progress), *seen.progress);
    }
    out += "  " + stopwatch(now() - since_);
    if (!seen.message.empty()) out += "  " + printable(seen.message);
    return out;
}

void LiveView::erase_live_line() {
    if (!is_drawn_) return;
    write_to(screen_, "\r\x1b[2K");
    is_drawn_ = false;
}

// One column stays free: a terminal may wrap a line that fills its width.
void LiveView::draw_live_line(std::string line) {
    const std::size_t width = screen_.width > 1 ? screen_.width - 1 : 79;
    write_to(screen_, "\r\x1b[2K" + clipped(line, width));
    is_drawn_ = true;
}

}  // namespace sluice::cli
