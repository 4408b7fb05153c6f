#include "interfaces/cli/jobs/follow.hpp"

#include <fmt/format.h>

#include <chrono>

#include "domain/values/duration_text.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/jobs/live_view.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"
#include "interfaces/cli/terminal/interrupt.hpp"

namespace sluice::cli {
namespace {

std::string end_line(const Screen& screen, const client::Job& job) {
    const std::string_view state = to_text(job.state);
    std::string out = screen.painted(state_style(state),
                                     fmt::format("{} {}", state_symbol(screen, state), state));
    if (job.created_at && job.completed_at) {
        out += " in " + stopwatch(*job.completed_at - *job.created_at);
    }
    if (job.attempt > 1) out += fmt::format(" after {} attempts", job.attempt);
    if (!job.error_code.empty()) out += ": " + printable(job.error_code);
    if (!job.error_message.empty()) out += ": " + printable_lines(job.error_message);
    return out;
}

int print_end(Session& session, const client::Job& job) {
    session.say(end_line(session.err(), job));
    if (session.was_asked_for_a_format() || session.has_fields()) {
        if (session.prints_json() || session.format() == OutputFormat::name) {
            print_object(session, job_listing(), job.json);
        } else {
            print_listing(session, job_listing(), {job.json}, {});
        }
    } else if (job.state == client::State::succeeded) {
        session.put_json(job.result.empty() ? "null" : job.result);
    }
    return exit_code_of(job.state);
}

}  // namespace

int exit_code_of(client::State state) {
    switch (state) {
        case client::State::failed:
        case client::State::timed_out: return exit_job_failed;
        case client::State::canceled: return exit_job_canceled;
        default: return exit_ok;
    }
}

int follow_to_the_end(Session& session, const client::Job& job, const FollowOptions& options) {
    const InterruptWatch watch;
    const auto start = std::chrono::steady_clock::now();
    bool time_is_up = false;
    std::optional<LiveView> view;
    if (options.is_shown && !session.shows_curl()) view.emplace(session, job);
    const auto on_update = [&](const client::Update& update) {
        if (view) view->show(update);
        return !InterruptWatch::interrupted();
    };
    const auto keep_on = [&] {
        time_is_up = options.limit && std::chrono::steady_clock::now() - start >= *options.limit;
        if (view) view->tick();
        return !time_is_up && !InterruptWatch::interrupted();
    };
    const bool has_ended = session.patient_client().follow(job.id, 0, on_update, keep_on);
    view.reset();
    if (has_ended) return print_end(session, session.patient_client().get(job.id));
    const std::string hint =
        fmt::format("the job goes on; see it with: sluice job watch {}", job.id);
    if (InterruptWatch::interrupted()) {
        session.complain("detached, " + hint);
        return exit_interrupted;
    }
    session.complain(fmt::format("sluice: job {} has not ended within {}; {}", job.id,
                                 duration_text(options.limit.value_or(client::Millis(0))), hint));
    return exit_wait_timed_out;
}

}  // namespace sluice::cli
