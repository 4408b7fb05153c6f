#include "application/leases/claim_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "application/entities/follow_jobs.hpp"
#include "application/jobs/finish_jobs.hpp"
#include "application/toolkit/error_detail.hpp"
#include "application/toolkit/leased_jobs.hpp"
#include "domain/values/check.hpp"
#include "json/json_values.hpp"

namespace sluice {
namespace {

constexpr int lost_max =
    1000;  // in one transaction, so that one failed site does not stall the others

// So many jobs are taken at once for a claim, and then as many again while its answer is not large:
// the answer of a claim cannot be made piece by piece.
constexpr int taken_at_once = 100;
constexpr std::size_t large_bytes = 4 * 1024 * 1024;

constexpr Duration clocks_differ_by = std::chrono::seconds(2);

void lease_job(Transaction& tx, Job& job, const ClaimJobs& claim) {
    // The job may have become due by the clock of another node. A clock that was set back since
    // does not count: deadlines go by the present time.
    const bool is_near = job.now.run_after - tx.now() <= clocks_differ_by;
    const Timestamp start = is_near ? tx.now_after(job.now.run_after) : tx.now();
    const auto moved = job.apply(Step::claimed);
    check(static_cast<bool>(moved), "what is taken from the queue is queued");
    ++job.now.attempt;
    job.now.started_at = start;
    job.now.error_code.clear();
    job.now.error_message.clear();
    job.now.message.clear();
    Lease lease;
    lease.token = tx.next_token();
    lease.worker_id = claim.worker_id;
    lease.since = start;
    lease.until = tx.now() + claim.term;
    lease.term = claim.term;
    job.lease = std::move(lease);
    std::string detail;
    if (!claim.token_name.empty()) detail = R"({"token":)" + json_string(claim.token_name) + "}";
    tx.record(job, Step::claimed, JobState::queued, worker_actor(claim.worker_id),
              std::move(detail), std::max({start, job.now.run_after, job.spec->created_at}));
}

// Sets the error with which the job ends because it cannot start; false: it can.
bool is_kept_from_starting(Job& job, const std::optional<Error>& refusal) {
    if (!job.damage.empty()) {
        job.now.error_code = job_damaged_code;
        job.now.error_message = fmt::format(
            "the stored row of the job was changed from outside: its {} is not what was submitted",
            job.damage);
        return true;
    }
    if (!refusal) return false;
    job.now.error_code =
        refusal->code == ErrorCode::gate_closed ? gate_closed_code : resource_failed_code;
    job.now.error_message = refusal->message;
    return true;
}

// Moves the entities of all jobs that were taken. Returns the refusal of each job, if any.
std::vector<std::optional<Error>> start_all(Transaction& tx,
                                            const std::vector<std::vector<Job>>& jobs) {
    std::vector<const Job*> all;
    for (const std::vector<Job>& of_claim : jobs) {
        for (const Job& job : of_claim) all.push_back(&job);
    }
    return all.empty() ? std::vector<std::optional<Error>>() : follow_starts(tx, all);
}

// Removes jobs from `jobs` that are damaged, or that their entities do not let start, and adds them
// to the ended ones.
void end_what_cannot_start(Transaction& tx, std::vector<Job>& jobs,
                           std::span<const std::optional<Error>> refusals,
                           std::vector<Job>& ended) {
    std::size_t index = 0;
    const auto cannot_start = [&](Job& job) {
        if (!is_kept_from_starting(job, refusals[index++])) return false;
        end_job(tx, job,
                {.step = Step::failed,
                 .actor = engine_actor,
                 .detail = error_detail(job.now.error_code, job.now.error_message)});
        ended.push_back(std::move(job));
        return true;
    };
    std::erase_if(jobs, cannot_start);
}

// The jobs that a claim took in one round.
struct Taken {
    int count = 0;
    int lost = 0;  // of them, because they could not start
};

// Takes up to `limit` jobs for each claim.
std::vector<Taken> take_jobs(Transaction& tx, std::span<const ClaimJobs> claims,
                             const std::vector<int>& limits, std::vector<Claimed>& claimed) {
    std::vector<LeaseStore::Wanted> wanted;
    wanted.reserve(claims.size());
    for (std::size_t i = 0; i < claims.size(); ++i)
        wanted.push_back({&claims[i].filter, limits[i]});
    std::vector<std::vector<Job>> jobs = tx.leases().take(wanted, tx.now());
    tx.skip_tokens(tx.leases().newest_token());

    for (std::size_t i = 0; i < claims.size(); ++i) {
        if (jobs[i].empty()) continue;
        for (Job& job : jobs[i]) lease_job(tx, job, claims[i]);
        tx.leases().open(jobs[i]);
    }
    const std::vector<std::optional<Error>> refusals = start_all(tx, jobs);

    std::vector<Taken> taken(claims.size());
    std::vector<Job> ended;
    std::size_t first = 0;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        const std::size_t before = jobs[i].size();
        if (before == 0) continue;
        end_what_cannot_start(tx, jobs[i], std::span(refusals).subspan(first, before), ended);
        first += before;
        taken[i] = {static_cast<int>(before), static_cast<int>(before - jobs[i].size())};
        if (claimed[i].empty()) {
            claimed[i] = std::move(jobs[i]);
        } else {
            std::move(jobs[i].begin(), jobs[i].end(), std::back_inserter(claimed[i]));
        }
    }
    finish_jobs(tx, ended);
    return taken;
}

bool are_large(std::span<const Job> jobs) {
    std::size_t bytes = 0;
    for (const Job& job : jobs) bytes += job.spec->payload.size();
    return bytes >= large_bytes;
}

// How many jobs the claim takes in the next round, after one in which it asked for `limit`. Jobs
// that could not start are replaced, and have perhaps freed a key that others wait for.
int next_limit(const ClaimJobs& claim, const Claimed& claimed, Taken taken, int limit) {
    const int missing = claim.limit - static_cast<int>(claimed.size());
    const bool had_enough = taken.count > 0 && taken.count == limit;
    if (!had_enough || missing == 0) return taken.lost;
    return missing > taken.lost && are_large(claimed) ? 0 : std::min(missing, taken_at_once);
}

}  // namespace

std::vector<Result<Claimed>> claim_jobs(Transaction& tx, std::span<const ClaimJobs> claims) {
    std::vector<int> limits;
    limits.reserve(claims.size());
    for (const ClaimJobs& claim : claims) limits.push_back(std::min(claim.limit, taken_at_once));
    std::vector<Claimed> claimed(claims.size());
    int lost = 0;
    do {
        const std::vector<Taken> taken = take_jobs(tx, claims, limits, claimed);
        for (std::size_t i = 0; i < claims.size(); ++i) {
            lost += taken[i].lost;
            limits[i] = next_limit(claims[i], claimed[i], taken[i], limits[i]);
        }
    } while (lost < lost_max && std::any_of(limits.begin(), limits.end(), std::identity()));

    std::vector<Result<Claimed>> answers;
    answers.reserve(claims.size());
    for (Claimed& jobs : claimed) answers.emplace_back(std::move(jobs));
    return answers;
}

}  // namespace sluice
