#include "application/remove_old_jobs.hpp"

#include <algorithm>

#include "application/gates.hpp"

namespace sluice {
namespace {

// Of one step: jobs that are looked at, and rows that are removed with them.
constexpr int looked_at = 500;
constexpr std::int64_t rows_max = 2000;

bool ended_before(JobState state, Timestamp completed_at, const Retention& retention,
                  Timestamp now) {
    const auto cutoff = retention.cutoff(state, now);
    return cutoff && completed_at < *cutoff;
}

}  // namespace

bool is_over(const Job& job, const Retention& retention, Timestamp now) {
    return is_final(job.now.state) && !job.lease && job.damage.empty() && job.now.completed_at &&
           ended_before(job.now.state, *job.now.completed_at, retention, now);
}

std::vector<JobId> RemoveOldJobs::next_candidates(Transaction& tx, int limit) {
    const auto newest_cutoff = retention_.latest_cutoff(tx.now());
    std::vector<JobId> found;
    if (!newest_cutoff) return found;
    const std::vector<EndedJob> ended =
        tx.archive().ended(after_, first_id_at(*newest_cutoff), looked_at);
    std::int64_t rows = 0;
    for (const EndedJob& job : ended) {
        if (std::ssize(found) == limit || rows >= rows_max) return found;
        after_ = job.id;
        if (!ended_before(job.state, job.completed_at, retention_, tx.now())) continue;
        found.push_back(job.id);
        rows += job.rows;
    }
    if (std::ssize(ended) < looked_at) after_ = {};
    return found;
}

int RemoveOldJobs::run(Transaction& tx, int limit) {
    const std::vector<JobId> candidates = next_candidates(tx, limit);
    if (candidates.empty()) return 0;
    const std::vector<JobId> unneeded = tx.archive().unneeded(candidates);
    std::vector<JobId> over;
    for (const std::optional<Job>& job : tx.jobs().find(unneeded)) {
        if (!job || !is_over(*job, retention_, tx.now())) continue;
        if (is_asked_for(tx.reader().entities(), tx.rules().kinds, *job)) continue;
        over.push_back(job->spec->id);
    }
    if (over.empty()) return 0;
    tx.flush();  // the end of a lease may be in this very batch; its event goes, too
    tx.archive().remove(over);
    tx.note_removed(over);
    return static_cast<int>(over.size());
}

}  // namespace sluice
