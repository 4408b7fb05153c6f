#include "application/cancel_jobs.hpp"

#include <fmt/format.h>

#include "application/error_detail.hpp"
#include "application/finish_jobs.hpp"
#include "application/leased_jobs.hpp"

namespace sluice {
namespace {

std::string_view ended_text(JobState state) {
    switch (state) {
        case JobState::succeeded: return "has succeeded";
        case JobState::canceled: return "was canceled";
        case JobState::timed_out: return "has timed out";
        default: return "has failed";
    }
}

Result<Job> cancel(Transaction& tx, const CancelJob& command) {
    std::optional<Job> job = tx.jobs().find_one(command.job);
    const bool is_seen = job && (command.tenant.empty() || job->spec->tenant == command.tenant) &&
                         (command.queue.empty() || job->spec->queue == command.queue);
    if (!is_seen) {
        return Error{ErrorCode::not_found, "no job has this id", ""};
    }
    const JobType* type = tx.rules().types.find(job->spec->type);
    const bool admin_cancels = type && type->admin_cancels;
    if (admin_cancels && !command.is_admin) {
        return Error{ErrorCode::forbidden,
                     fmt::format("only admins cancel jobs of type \"{}\"", job->spec->type), ""};
    }
    if (job->now.state == JobState::canceled && !command.only_once) return *std::move(job);
    if (is_final(job->now.state)) {
        return Error{
            admin_cancels ? ErrorCode::job_not_cancellable : ErrorCode::conflict,
            fmt::format("the job {} already and cannot be canceled", ended_text(job->now.state)),
            ""};
    }
    job->now.error_code.clear();  // that of an earlier attempt is not why it ended
    job->now.error_message = command.reason;
    end_job(tx, *job,
            {.step = Step::canceled,
             .actor = command.actor,
             .detail = reason_detail(command.reason),
             .keep_lease = job->lease.has_value()});
    finish_jobs(tx, {&*job, 1});
    return *std::move(job);
}

}  // namespace

std::vector<Result<Job>> cancel_jobs(Transaction& tx, std::span<const CancelJob> cancels) {
    std::vector<Result<Job>> answers;
    for (const CancelJob& command : cancels) answers.push_back(cancel(tx, command));
    return answers;
}

}  // namespace sluice
