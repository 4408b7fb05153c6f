#include "interfaces/cli/work/work_talk.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "interfaces/cli/terminal/display_text.hpp"

namespace sluice::cli {
namespace {

// Reports each job that another worker runs, when it begins and how it ended.
class Announced : public client::JobWorker {
  public:
    Announced(std::shared_ptr<client::JobWorker> worker, std::shared_ptr<Talk> talk)
        : worker_(std::move(worker)), talk_(std::move(talk)) {}

    client::Outcome execute(const client::Job& job, client::Context& context) override {
        const std::string name = fmt::format("{} {}", job.id, printable(job.type));
        const std::string attempt =
            job.attempt > 1 ? fmt::format(" (attempt {} of {})", job.attempt, job.max_attempts)
                            : std::string();
        const Screen& screen = talk_->screen();
        talk_->say(Style::cyan, screen.symbol("▶", ">"), name + attempt);
        const auto start = now();
        const client::Outcome outcome = worker_->execute(job, context);
        tell_end(name, outcome, context.cancel().reason(), now() - start);
        return outcome;
    }

  private:
    void tell_end(const std::string& name, const client::Outcome& outcome,
                  client::StopReason reason, Duration time) {
        const Screen& screen = talk_->screen();
        const std::string after = stopwatch(time);
        using Kind = client::Outcome::Kind;
        if (outcome.kind == Kind::succeeded) {
            talk_->say(Style::green, screen.symbol("✔", "+"),
                       fmt::format("{} succeeded in {}", name, after));
        } else if (outcome.kind == Kind::failed) {
            const std::string_view message = outcome.error_message;
            const std::string_view last =
                message.substr(message.find_last_of('\n') + 1);  // npos + 1 is 0
            talk_->say(Style::red, screen.symbol("✖", "x"),
                       fmt::format("{} failed after {}: {} {}{}", name, after,
                                   printable(outcome.error_code), clipped(printable(last), 200),
                                   outcome.retryable ? "" : " (not to be tried again)"));
        } else {
            talk_->say(Style::yellow, screen.symbol("■", "#"),
                       fmt::format("{} {} after {}", name, why_stopped(outcome, reason), after));
        }
    }

    static std::string_view why_stopped(const client::Outcome& outcome, client::StopReason reason) {
        switch (reason) {
            case client::StopReason::lease_lost: return "stopped, since its lease is lost,";
            case client::StopReason::shutdown: return "stopped, to be handed back,";
            case client::StopReason::deadline: return "timed out";
            case client::StopReason::canceled:
            case client::StopReason::none: break;
        }
        return outcome.kind == client::Outcome::Kind::timed_out ? "timed out" : "canceled";
    }

    std::shared_ptr<client::JobWorker> worker_;
    // A job that does not stop may go on, on its thread, after the worker has ended.
    std::shared_ptr<Talk> talk_;
};

}  // namespace

Talk::Talk(bool no_colour, bool is_quiet)
    : screen_(screen_on(STDERR_FILENO, no_colour)), is_quiet_(is_quiet), lines_(STDERR_FILENO) {}

void Talk::say(Style style, std::string_view mark, std::string_view text) {
    if (!is_quiet_) write(style, mark, text);
}

void Talk::complain(std::string_view text) {
    write(Style::yellow, screen_.symbol("▲", "!"), text);
}

void Talk::write(Style style, std::string_view mark, std::string_view text) {
    lines_.write(fmt::format("{} {} {}\n", screen_.painted(Style::dim, time_of_day(now())),
                             screen_.painted(style, mark), text));
}

std::shared_ptr<client::JobWorker> announced(std::shared_ptr<client::JobWorker> worker,
                                             std::shared_ptr<Talk> talk) {
    return std::make_shared<Announced>(std::move(worker), std::move(talk));
}

}  // namespace sluice::cli
