#include "application/leases/report_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/jobs/finish_jobs.hpp"
#include "application/toolkit/error_detail.hpp"
#include "application/toolkit/leased_jobs.hpp"
#include "application/toolkit/names.hpp"
#include "application/toolkit/redact.hpp"
#include "application/toolkit/waves.hpp"
#include "domain/values/check.hpp"

namespace sluice {
namespace {

Step step_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::succeeded: return Step::succeeded;
        case Outcome::failed: return Step::failed;
        case Outcome::canceled: return Step::canceled;
        case Outcome::timed_out: return Step::timed_out;
    }
    return Step::failed;
}

JobState state_of(Outcome outcome) {
    return *next_state(JobState::running, step_of(outcome));
}

std::string error_code_of(const Report& report) {
    if (report.error_code.empty() && report.outcome == Outcome::timed_out) {
        return std::string(job_timeout_code);
    }
    return report.error_code;
}

// Refuses a failure without a reason where the type wants one. The worker keeps its lease, and may
// report again.
std::optional<Error> refuse_silence(const JobTypes& types, const Job& job, const Report& report) {
    if (report.outcome != Outcome::failed) return std::nullopt;
    if (!report.error_code.empty() && !report.error_message.empty()) return std::nullopt;
    const JobType* type = types.find(job.spec->type);
    if (!type || !type->needs_error) return std::nullopt;
    return refuse(report.error_code.empty() ? "error_code" : "error_message",
                  fmt::format("is missing: errors must set error_code and error_message when jobs "
                              "of type \"{}\" fail",
                              job.spec->type));
}

// Whether the policy gives the job another attempt after this report.
bool is_retried(const Job& job, const Report& report) {
    if (job.now.attempt >= job.spec->max_attempts) return false;
    if (job.lease->stop_requested)
        return report.outcome != Outcome::succeeded;  // the deadline of the attempt came
    if (report.outcome == Outcome::timed_out) return job.spec->retry_on_timeout;
    return report.outcome == Outcome::failed && report.retryable;
}

// The detail of a retry. Equal reports have the same detail, by which a repeated one is recognized.
std::string retry_detail(const Report& report, std::string_view run_after) {
    return error_detail(error_code_of(report), report.error_message,
                        fmt::format(R"("run_after":"{}","outcome":"{}")", run_after,
                                    to_text(state_of(report.outcome))));
}

// The detail of the end of a lease whose job had ended before.
std::string stop_detail(const Report& report) {
    return fmt::format(R"({{"reported":"{}"}})", to_text(state_of(report.outcome)));
}

constexpr std::string_view run_after_prefix = R"({"run_after":")";
constexpr std::size_t rfc3339_size = 24;

void retry(Transaction& tx, Job& job, const Report& report) {
    job.now.error_code = error_code_of(report);
    job.now.error_message = report.error_message;
    const Timestamp run_after = tx.now() + job.spec->backoff.after(job.now.attempt, tx.chance());
    requeue_job(tx, job,
                {.step = Step::retried,
                 .run_after = run_after,
                 .actor = worker_actor(job.lease->worker_id),
                 .detail = retry_detail(report, to_rfc3339(run_after))});
}

// Whether the control plane ends the job instead of its worker, which does not know yet.
bool is_instead_of_worker(const Report& report) {
    return report.by_worker && report.by_worker->worker_id.empty();
}

void finish(Transaction& tx, Job& job, const Report& report) {
    job.now.result = report.result;
    job.now.error_code = error_code_of(report);
    job.now.error_message = report.error_message;
    if (report.outcome == Outcome::succeeded && job.now.progress) job.now.progress = 100;
    end_job(tx, job,
            {.step = step_of(report.outcome),
             .actor = report.actor.empty() ? worker_actor(job.lease->worker_id) : report.actor,
             .detail = error_detail(job.now.error_code, job.now.error_message),
             .keep_lease = is_instead_of_worker(report)});
}

// The answer to a worker whose job had ended before it reported.
Result<Job> answer_after_end(const Job& job, const Report& report) {
    if (report.outcome == Outcome::canceled || state_of(report.outcome) == job.now.state)
        return job;
    return Error{ErrorCode::conflict,
                 fmt::format("the job was {} before this report came", to_text(job.now.state)), ""};
}

// The worker has stopped.
Result<Job> acknowledge_end(Transaction& tx, Job& job, const Report& report) {
    close_ended_lease(tx, job, worker_actor(job.lease->worker_id), stop_detail(report));
    return answer_after_end(job, report);
}

// The job as it was after the retry of `event`.
Job as_after_retry(Job job, const Event& event, const Report& report) {
    const std::string_view text = event.detail;
    const auto run_after = parse_rfc3339(text.substr(run_after_prefix.size(), rfc3339_size));
    check(run_after.has_value(), "a retry's detail names its time");
    Job then = accepted(std::move(job.spec));
    then.now.attempt = event.attempt;
    then.now.run_after = *run_after;
    then.now.error_code = error_code_of(report);
    then.now.error_message = report.error_message;
    then.now.log_seq = event.log_seq;
    // The digest of fewer lines than there are by now is not kept, and no answer shows it.
    if (job.now.log_seq == event.log_seq) then.now.log_hash = job.now.log_hash;
    then.now.head = {event.seq, event.hash};
    return then;
}

bool says_the_same(const Job& job, const Event& event, const Report& report) {
    if (event.step == Step::retried) {
        const std::string_view text = event.detail;
        return text.starts_with(run_after_prefix) && report.outcome != Outcome::succeeded &&
               event.detail ==
                   retry_detail(report, text.substr(run_after_prefix.size(), rfc3339_size));
    }
    if (event.step == Step::lease_closed) return event.detail == stop_detail(report);
    return event.to == state_of(report.outcome) && job.now.result == report.result &&
           job.now.error_code == error_code_of(report) &&
           job.now.error_message == report.error_message;
}

// The last report of the worker of this lease, if any. Repeats of it come soon.
const Event* last_report(std::span<const Event> events, LeaseToken token) {
    const Event* found = nullptr;
    for (const Event& event : events) {
        const bool reports = event.step == Step::retried || event.step == Step::lease_closed ||
                             (event.to && is_final(*event.to));
        if (event.lease == token && reports && event.actor.starts_with("worker:")) {
            found = &event;
        }
    }
    return found;
}

// The answer to a report that was made before under this lease.
Result<Job> answer_again(Job job, const Event& before, const Report& report) {
    if (before.step == Step::retried) return as_after_retry(std::move(job), before, report);
    if (before.step == Step::lease_closed) return answer_after_end(job, report);
    return job;
}

// A report under a lease that is not current: a repeat of an earlier report of this lease, or too
// late. The earlier report may be stored as it was sent, from a time with other rules about
// secrets.
Result<Job> answer_stale(const Rules& rules, std::optional<Job>& job, const Report& as_sent,
                         std::span<const Event> last_events, Error refusal) {
    if (refusal.code == ErrorCode::not_found) return refusal;
    LeaseToken token = as_sent.lease.token;
    if (as_sent.by_worker) {
        const auto last = last_claim(last_events, *as_sent.by_worker);
        if (!last) return refusal;
        // A worker that is known by its name cannot tell which of its runs was stopped. Whatever it
        // reported before, the job has ended as this report says.
        const bool is_canceled = job->now.state == JobState::canceled;
        if (is_canceled && as_sent.outcome == Outcome::canceled) return *std::move(job);
        token = *last;
    }
    const Event* const before = last_report(last_events, token);
    if (!before) return refusal;
    if (says_the_same(*job, *before, as_sent)) {
        return answer_again(*std::move(job), *before, as_sent);
    }
    const auto clean = without_secrets(as_sent, rules, job->spec);
    if (clean && says_the_same(*job, *before, *clean)) {
        return answer_again(*std::move(job), *before, *clean);
    }
    return Error{ErrorCode::conflict, "this lease has reported another outcome before", ""};
}

// The last events of each of these jobs, looked_through at the most; read in one call.
std::vector<std::vector<Event>> last_events_of(Transaction& tx,
                                               std::span<const std::optional<Job>> jobs,
                                               std::span<const std::optional<Error>> refusals) {
    std::vector<std::vector<Event>> events(jobs.size());
    std::vector<JobReader::EventsAfter> wanted;
    std::vector<std::size_t> indexes;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!refusals[i] || refusals[i]->code == ErrorCode::not_found) continue;
        const std::int64_t seq = jobs[i]->now.head.seq;
        wanted.push_back({jobs[i]->spec->id, std::max<std::int64_t>(0, seq - looked_through)});
        indexes.push_back(i);
    }
    if (wanted.empty()) return events;
    tx.flush();  // the first report may be in this very batch
    auto read = tx.reader().events_of(wanted, looked_through);
    for (std::size_t k = 0; k < indexes.size(); ++k) events[indexes[k]] = std::move(read[k]);
    return events;
}

// Takes the report of a worker that holds the job, which has not ended: true when the job ends.
bool take_report(Transaction& tx, Job& job, const Report& as_sent) {
    const auto clean = without_secrets(as_sent, tx.rules(), job.spec);
    const Report& report = clean ? *clean : as_sent;
    if (is_retried(job, report)) {
        retry(tx, job, report);
        return false;
    }
    finish(tx, job, report);
    return true;
}

}  // namespace

std::vector<Result<Job>> report_jobs(Transaction& tx, std::span<const Report> reports) {
    std::vector<Result<Job>> answers(reports.size(), Error{});
    const auto job_of = [&](std::size_t i) { return reports[i].lease.job; };
    for (const auto& wave : in_waves(reports.size(), job_of)) {
        std::vector<JobId> ids;
        for (const std::size_t i : wave) ids.push_back(job_of(i));
        auto found = tx.jobs().find(ids);
        std::vector<std::optional<Error>> refusals;
        for (std::size_t k = 0; k < wave.size(); ++k) {
            const Report& report = reports[wave[k]];
            refusals.push_back(
                lease_refusal(found[k], report.lease, report.by_worker, report.bounds));
        }
        const auto last_events = last_events_of(tx, found, refusals);
        std::vector<Job> ended;
        std::vector<std::size_t> ended_indexes;
        for (std::size_t k = 0; k < wave.size(); ++k) {
            std::optional<Job>& job = found[k];
            const Report& report = reports[wave[k]];
            if (refusals[k]) {
                answers[wave[k]] =
                    answer_stale(tx.rules(), job, report, last_events[k], *std::move(refusals[k]));
            } else if (is_final(job->now.state)) {
                answers[wave[k]] = acknowledge_end(tx, *job, report);
            } else if (auto silence = refuse_silence(tx.rules().types, *job, report)) {
                answers[wave[k]] = *std::move(silence);
            } else if (take_report(tx, *job, report)) {
                ended.push_back(*std::move(job));
                ended_indexes.push_back(wave[k]);
            } else {
                answers[wave[k]] = *std::move(job);
            }
        }
        finish_jobs(tx, ended);
        for (std::size_t k = 0; k < ended.size(); ++k) {
            answers[ended_indexes[k]] = std::move(ended[k]);
        }
    }
    return answers;
}

}  // namespace sluice
