#include "application/leases/release_leases.hpp"

#include <fmt/format.h>

#include "application/jobs/finish_jobs.hpp"
#include "application/toolkit/error_detail.hpp"
#include "application/toolkit/leased_jobs.hpp"
#include "application/toolkit/names.hpp"
#include "domain/values/json_text.hpp"

namespace sluice {
namespace {

std::optional<Error> refuse_release(const std::optional<Job>& job, const ReleaseLease& command) {
    const bool is_seen = job && (command.tenant.empty() || job->spec->tenant == command.tenant);
    if (!is_seen) return no_such_job(command.job);
    if (job->lease) return std::nullopt;
    return Error{ErrorCode::conflict,
                 fmt::format("the job is {} and no worker holds it: there is no lease to release",
                             to_text(job->now.state)),
                 ""};
}

// The reason is the message of the error, and the ticket stands beside it.
std::string release_detail(const ReleaseLease& command) {
    std::string ticket;
    if (!command.ticket.empty()) {
        ticket = "\"ticket\":";
        append_json_string(ticket, command.ticket);
    }
    return error_detail(lease_released_code, command.reason, ticket);
}

// The job as it would be.
Job tried(Job job, const ReleaseLease& command, Timestamp now) {
    job.lease.reset();
    if (is_final(job.now.state)) return job;
    job.now.error_code = lease_released_code;
    job.now.error_message = command.reason;
    if (job.now.attempt < job.spec->max_attempts) {
        job.now.state = JobState::queued;
        job.now.run_after = now;
        job.now.started_at.reset();
        job.now.progress.reset();
        job.now.message.clear();
    } else {
        job.now.state = JobState::failed;
        job.now.completed_at = now;
    }
    return job;
}

void take_away(Transaction& tx, Job& job, const ReleaseLease& command) {
    std::string detail = release_detail(command);
    if (is_final(job.now.state)) {
        return close_ended_lease(tx, job, command.actor, std::move(detail));
    }
    job.now.error_code = lease_released_code;
    job.now.error_message = command.reason;
    if (job.now.attempt < job.spec->max_attempts) {
        return requeue_job(tx, job,
                           {.step = Step::retried,
                            .run_after = tx.now(),
                            .actor = command.actor,
                            .detail = std::move(detail)});
    }
    end_job(tx, job, {.step = Step::failed, .actor = command.actor, .detail = std::move(detail)});
    finish_jobs(tx, {&job, 1});
}

}  // namespace

std::vector<Result<Job>> release_leases(Transaction& tx, std::span<const ReleaseLease> releases) {
    std::vector<Result<Job>> answers;
    for (const ReleaseLease& command : releases) {
        std::optional<Job> job = tx.jobs().find_one(command.job);
        if (auto refusal = refuse_release(job, command)) {
            answers.emplace_back(*std::move(refusal));
            continue;
        }
        if (command.dry_run) {
            answers.emplace_back(tried(*std::move(job), command, tx.now()));
            continue;
        }
        take_away(tx, *job, command);
        answers.emplace_back(*std::move(job));
    }
    return answers;
}

}  // namespace sluice
