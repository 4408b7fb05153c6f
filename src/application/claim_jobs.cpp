#include "application/claim_jobs.hpp"

#include "domain/check.hpp"

namespace sluice {
namespace {

void lease_job(Transaction& tx, Job& job, const ClaimJobs& claim) {
    tx.not_before(job.run_after);
    const auto moved = job.apply(Step::claimed);
    check(static_cast<bool>(moved), "what is taken from the queue is queued");
    ++job.attempt;
    job.started_at = tx.now();
    job.error_code.clear();
    job.error_message.clear();
    job.message.clear();
    Lease lease;
    lease.token = tx.next_token();
    lease.worker_id = claim.worker_id;
    lease.since = tx.now();
    lease.until = tx.now() + claim.term;
    lease.term = claim.term;
    job.lease = std::move(lease);
    tx.record(job, Step::claimed, JobState::queued, worker_actor(claim.worker_id));
}

}  // namespace

std::vector<Result<Claimed>> claim_jobs(Transaction& tx, std::span<const ClaimJobs> claims) {
    std::vector<LeaseStore::Wanted> wanted;
    wanted.reserve(claims.size());
    for (const ClaimJobs& claim : claims) wanted.push_back({&claim.filter, claim.limit});
    std::vector<std::vector<Job>> taken = tx.leases().take(wanted, tx.now());
    tx.skip_tokens(tx.leases().newest_token());

    std::vector<Result<Claimed>> answers;
    answers.reserve(claims.size());
    for (std::size_t i = 0; i < claims.size(); ++i) {
        for (Job& job : taken[i]) lease_job(tx, job, claims[i]);
        if (!taken[i].empty()) tx.leases().open(taken[i]);
        answers.emplace_back(std::move(taken[i]));
    }
    return answers;
}

}  // namespace sluice
