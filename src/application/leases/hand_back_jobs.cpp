#include "application/leases/hand_back_jobs.hpp"

#include "application/toolkit/error_detail.hpp"
#include "application/toolkit/leased_jobs.hpp"
#include "application/toolkit/redact.hpp"

namespace sluice {
namespace {

Result<Job> hand_back(Transaction& tx, const HandBack& command) {
    std::optional<Job> job = tx.jobs().find_one(command.lease.job);
    if (auto refusal = lease_refusal(job, command.lease, command.bounds))
        return *std::move(refusal);

    std::string actor = worker_actor(job->lease->worker_id);
    const auto clean = without_secrets(command, tx.rules(), job->spec);
    std::string detail = reason_detail(clean ? clean->reason : command.reason);
    if (is_final(job->now.state)) {
        close_ended_lease(tx, *job, std::move(actor), std::move(detail));
    } else {
        --job->now.attempt;
        requeue_job(tx, *job,
                    {.step = Step::handed_back,
                     .run_after = tx.now(),
                     .actor = std::move(actor),
                     .detail = std::move(detail)});
    }
    return *std::move(job);
}

}  // namespace

std::vector<Result<Job>> hand_back_jobs(Transaction& tx, std::span<const HandBack> hand_backs) {
    std::vector<Result<Job>> answers;
    for (const HandBack& command : hand_backs) answers.push_back(hand_back(tx, command));
    return answers;
}

}  // namespace sluice
