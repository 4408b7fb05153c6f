#include "application/cancel_jobs.hpp"

#include <fmt/format.h>

#include "application/error_detail.hpp"
#include "application/finish_jobs.hpp"
#include "application/leased_jobs.hpp"
#include "application/waves.hpp"

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

// What is to be said of a cancel that ends nothing; nothing when the job is to end.
std::optional<Result<Job>> answer_without_end(const Rules& rules, const std::optional<Job>& job,
                                              const CancelJob& command) {
    const bool is_seen = job && (command.tenant.empty() || job->spec->tenant == command.tenant) &&
                         (command.queue.empty() || job->spec->queue == command.queue);
    if (!is_seen) {
        return Error{ErrorCode::not_found, "no job has this id", ""};
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
    job.now.error_code.clear();  // that of an earlier attempt is not why it ended
    job.now.error_message = command.reason;
    end_job(tx, job,
            {.step = Step::canceled,
             .actor = command.actor,
             .detail = reason_detail(command.reason),
             .keep_lease = job.lease.has_value()});
}

// Jobs that were canceled and are to be finished together, and whose answers these are.
class Ended {
  public:
    Ended(Transaction& tx, std::vector<Result<Job>>& answers) : tx_(tx), answers_(answers) {}

    bool had_any() const { return had_any_; }

    void add(Job job, std::size_t place) {
        jobs_.push_back(std::move(job));
        places_.push_back(place);
        had_any_ = true;
    }

    void finish() {
        finish_jobs(tx_, jobs_);
        for (std::size_t k = 0; k < jobs_.size(); ++k) answers_[places_[k]] = std::move(jobs_[k]);
        jobs_.clear();
        places_.clear();
    }

  private:
    Transaction& tx_;
    std::vector<Result<Job>>& answers_;
    std::vector<Job> jobs_;
    std::vector<std::size_t> places_;
    bool had_any_ = false;
};

}  // namespace

std::vector<Result<Job>> cancel_jobs(Transaction& tx, std::span<const CancelJob> cancels) {
    std::vector<Result<Job>> answers(cancels.size(), Error{});
    const auto job_of = [&](std::size_t i) { return cancels[i].job; };
    for (const auto& wave : in_waves(cancels.size(), job_of)) {
        std::vector<JobId> ids;
        for (const std::size_t place : wave) ids.push_back(job_of(place));
        std::vector<std::optional<Job>> found = tx.jobs().find(ids);
        Ended ended(tx, answers);
        for (std::size_t k = 0; k < wave.size(); ++k) {
            std::optional<Job>& job = found[k];
            // One that waits for others may end with those that were canceled before it.
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
