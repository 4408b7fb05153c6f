#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "domain/values/duration_text.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/job_ids.hpp"
#include "interfaces/cli/framework/listing.hpp"
#include "interfaces/cli/jobs/follow.hpp"
#include "interfaces/cli/jobs/job_commands.hpp"
#include "interfaces/cli/terminal/interrupt.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t jobs_max = 100;  // each takes a thread and a connection

struct WaitFlags {
    CommonFlags common{};
    std::vector<std::string> ids{};
    bool all = false;
    bool any = false;
    std::string wanted{};
    std::string timeout{};
};

using States = std::set<client::State>;

// "state=succeeded,failed"; empty: any end.
States wanted_states(const std::string& text) {
    States states;
    if (text.empty()) return states;
    constexpr std::string_view prefix = "state=";
    const std::vector<std::string> words = text.starts_with(prefix)
                                               ? comma_list(text.substr(prefix.size()))
                                               : std::vector<std::string>();
    for (const std::string& word : words) {
        check_word("--for state", word, state_names());
        states.insert(*client::parse_state(word));
    }
    if (states.empty()) {
        throw CommandError(exit_usage, "--for must be state=STATE, like state=succeeded");
    }
    return states;
}

// The outcome of one job.
struct Watched {
    bool reached = false;  // the state that was waited for
    bool ended = false;
    std::exception_ptr problem{};
};

// Follows every job at once and stops when the outcome is decided, the time is up, or at Ctrl-C.
class Wait {
  public:
    Wait(Session& session, const WaitFlags& flags, std::vector<std::string> ids)
        : session_(session),
          wanted_(wanted_states(flags.wanted)),
          is_for_any_(flags.any),
          ids_(std::move(ids)),
          watched_(ids_.size()) {
        if (!flags.timeout.empty()) limit_ = duration_flag("--timeout", flags.timeout);
    }

    int run() {
        const InterruptWatch watch;
        std::vector<std::thread> threads;
        for (std::size_t i = 1; i < ids_.size(); ++i) {
            threads.emplace_back([this, i] { follow(i); });
        }
        follow(0);
        for (std::thread& thread : threads) thread.join();
        const bool is_answered =
            is_for_any_ && std::any_of(watched_.begin(), watched_.end(),
                                       [](const Watched& one) { return one.reached; });
        for (const Watched& one : watched_) {
            if (one.problem && !is_answered) std::rethrow_exception(one.problem);
        }
        return answer();
    }

  private:
    bool keep_on() const {
        const bool time_is_up = limit_ && std::chrono::steady_clock::now() - start_ >= *limit_;
        return !time_is_up && !is_decided_ && !InterruptWatch::interrupted();
    }

    void follow(std::size_t i) {
        Watched seen;
        try {
            seen.ended = session_.patient_client().follow(
                ids_[i], 0,
                [&](const client::Update& update) {
                    if (update.status && wanted_.contains(update.status->state)) {
                        seen.reached = true;
                    }
                    return !seen.reached && keep_on();
                },
                [&] { return keep_on(); });
            if (seen.ended && wanted_.empty()) seen.reached = true;
        } catch (...) {
            seen.problem = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        // With --any the first one decides; with --all one that can no longer reach it does.
        const bool missed = seen.ended && !seen.reached;
        if (seen.problem || (is_for_any_ ? seen.reached : missed)) is_decided_ = true;
        watched_[i] = std::move(seen);
    }

    int answer() {
        std::vector<std::string> shown;
        int code = exit_ok;
        std::size_t pending = 0;
        for (std::size_t i = 0; i < ids_.size(); ++i) {
            const Watched& one = watched_[i];
            if (!one.reached && !one.ended) {
                ++pending;
                if (is_for_any_) continue;
            }
            const client::Job job = session_.patient_client().get(ids_[i]);
            shown.push_back(job.json);
            const int own = exit_code_for(one, job);
            if (code == exit_ok || own == exit_job_failed) code = own;
        }
        if (InterruptWatch::interrupted()) return exit_interrupted;
        if (!session_.is_quiet() || session_.was_asked_for_a_format()) print(shown);
        if (is_decided_ || pending == 0) return code;
        session_.complain(fmt::format("sluice: {} of {} jobs {} not {} within {}; {} on", pending,
                                      ids_.size(), pending == 1 ? "has" : "have",
                                      wanted_.empty() ? "ended" : "got there",
                                      duration_text(limit_.value_or(client::Millis(0))),
                                      pending == 1 ? "it goes" : "they go"));
        return exit_wait_timed_out;
    }

    // A job that did not end in the wanted state has the code of its end; one that succeeded where
    // another state was wanted has the code of a conflict.
    int exit_code_for(const Watched& one, const client::Job& job) const {
        if (one.reached && !wanted_.empty()) return exit_ok;
        if (!one.ended) return exit_ok;
        const int code = exit_code_of(job.state);
        return code == exit_ok && !one.reached ? exit_conflict : code;
    }

    void print(const std::vector<std::string>& jobs) const {
        if (session_.format() == OutputFormat::json && ids_.size() == 1 && jobs.size() == 1) {
            print_object(session_, job_listing(), jobs.front());
        } else {
            print_listing(session_, job_listing(), jobs, {});
        }
    }

    Session& session_;
    const States wanted_;
    const bool is_for_any_;
    const std::vector<std::string> ids_;
    std::optional<client::Millis> limit_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::atomic<bool> is_decided_{false};
    std::mutex mutex_;
    std::vector<Watched> watched_;
};

int wait_for_jobs(const WaitFlags& flags) {
    Session session(flags.common);
    session.fields_or({}, job_listing().fields);
    std::vector<std::string> ids = find_job_ids(session, flags.ids);
    if (ids.size() > jobs_max) {
        throw CommandError(exit_usage, fmt::format("at most {} jobs at once", jobs_max));
    }
    session.check_job(ids.front());
    session.patient_client();  // made before threads share it
    return Wait(session, flags, std::move(ids)).run();
}

}  // namespace

void add_job_wait_command(Command& job) {
    Command& command = job.add_command("wait", "Wait for jobs to end");
    WaitFlags& flags = command.runs(wait_for_jobs);
    command.add_argument("ID", &flags.ids, "Jobs: ids, beginnings of ids, or @last");
    command.add_flag("--all", &flags.all, "Wait for all of them (this is what it does anyway)");
    command.add_flag("--any", &flags.any, "Wait for the first of them").excludes = "--all";
    command.add_option("--for", &flags.wanted, "state=STATE",
                       "Wait until a job is, or was, in this state (default: any end)");
    command.add_option("--timeout", &flags.timeout, "DURATION",
                       "Wait no longer than this (exit code 7)");
    add_common_flags(command, flags.common, TimeoutFlag::of_the_command);
    command.set_footer(examples({
        "sluice job wait @last --timeout 1m",
        "sluice job wait @last --for state=succeeded -o name",
    }));
}

}  // namespace sluice::cli
