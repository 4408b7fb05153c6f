#include "application/jobs/cancel_jobs.hpp"

#include <fmt/format.h>

#include "application/jobs/finish_jobs.hpp"
#include "application/toolkit/error_detail.hpp"
#include "application/toolkit/leased_jobs.hpp"
#include "application/toolkit/names.hpp"
#include "application/toolkit/waves.hpp"

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

// The answer to a cancel that ends no job; nothing when the job is to end.
std::optional<Result<Job>> answer_without_end(const Rules& rules, const std::optional<Job>& job,
                                              const CancelJob& command) {
    const bool is_seen = job && (command.tenant.empty() || job->spec->tenant == command.tenant) &&
                         (command.queue.empty() || job->spec->queue == command.queue);
    if (!is_seen) {
        return no_such_job(command.job);
    }
    const JobType* type = rules.types.find(job->spec->type);
    const bool admin_cancels = type && type->admin_cancels;
    if (admin_cancels && !command.is_admin) {
        return Error{ErrorCode::forbidden,
                     fmt::format("only admins cancel jobs of type \"{}\"", job->spec->type), ""};
    }
    if (job->now.state == JobState::canceled && !command.only_once) return *job;
    if (is_final(job->now.state)) {
        return Error{
            admin_cancels ? ErrorCode::job_not_cancellable : ErrorCode::conflict,
            fmt::format("the job {} already and cannot be canceled", ended_text(job->now.state)),
            ""};
    }
    return std::nullopt;
}

void end(Transaction& tx, Job& job, const CancelJob& command) {
    job.now.error_code.clear();  // it is of an earlier attempt and not why the job ended
    job.now.error_message = command.reason;
    end_job(tx, job,
            {.step = Step::canceled,
             .actor = command.actor,
             .detail = reason_detail(command.reason),
             .keep_lease = job.lease.has_value()});
}

// Canceled jobs that are finished together, and the answers that they belong to.
class Ended {
  public:
    Ended(Transaction& tx, std::vector<Result<Job>>& answers) : tx_(tx), answers_(answers) {}

    bool had_any() const { return had_any_; }

    void add(Job job, std::size_t index) {
        jobs_.push_back(std::move(job));
        indexes_.push_back(index);
        had_any_ = true;
    }

    void finish() {
        finish_jobs(tx_, jobs_);
        for (std::size_t k = 0; k < jobs_.size(); ++k) answers_[indexes_[k]] = std::move(jobs_[k]);
        jobs_.clear();
        indexes_.clear();
    }

  private:
    Transaction& tx_;
    std::vector<Result<Job>>& answers_;
    std::vector<Job> jobs_;
    std::vector<std::size_t> indexes_;
    bool had_any_ = false;
};

}  // namespace

std::vector<Result<Job>> cancel_jobs(Transaction& tx, std::span<const CancelJob> cancels) {
    std::vector<Result<Job>> answers(cancels.size(), Error{});
    const auto job_of = [&](std::size_t i) { return cancels[i].job; };
    for (const auto& wave : in_waves(cancels.size(), job_of)) {
        std::vector<JobId> ids;
        for (const std::size_t index : wave) ids.push_back(job_of(index));
        std::vector<std::optional<Job>> found = tx.jobs().find(ids);
        Ended ended(tx, answers);
        for (std::size_t k = 0; k < wave.size(); ++k) {
            std::optional<Job>& job = found[k];
            // A job that waits for others may end with those that were canceled before it.
            if (job && !job->spec->depends_on.empty() && ended.had_any()) {
                ended.finish();
                job = tx.jobs().find_one(ids[k]);
            }
            const CancelJob& command = cancels[wave[k]];
            if (auto answer = answer_without_end(tx.rules(), job, command)) {
                answers[wave[k]] = *std::move(answer);
            } else {
                end(tx, *job, command);
                ended.add(*std::move(job), wave[k]);
            }
        }
        ended.finish();
    }
    return answers;
}

}  // namespace sluice
