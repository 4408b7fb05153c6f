#include "application/jobs/remove_old_jobs.hpp"

#include <algorithm>

#include "application/entities/counted_successes.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

// Limits of one step: jobs that are considered, and how much is read and asked about those that may
// be removed. They are read with their payloads, since these tell whether a row is damaged.
constexpr int looked_at = 500;
constexpr std::size_t read_at_once = 20;
constexpr std::size_t bytes_max = 4u << 20;
constexpr int searches_max = 40;

// A step takes some milliseconds of the fiftieth of a second that follows it. So walks take a small
// part of the time, however many jobs are passed over.
constexpr Duration rest_for_step = 1s;
constexpr Duration rest_max = 1h;

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

Duration RemoveOldJobs::rest_after_walk() const {
    return std::min(rest_max, rest_for_step * vain_steps_);
}

RemoveOldJobs::Candidates RemoveOldJobs::next_candidates(Transaction& tx, int limit) {
    Candidates found;
    const auto newest_cutoff = retention_.latest_cutoff(tx.now());
    has_seen_all_ = !newest_cutoff;
    if (!newest_cutoff) return found;
    const std::vector<EndedJob> ended =
        tx.archive().ended(after_, first_id_at(*newest_cutoff), looked_at);
    std::int64_t rows = 0;
    for (const EndedJob& job : ended) {
        const bool is_old = ended_before(job.state, job.completed_at, retention_, tx.now());
        const bool is_large = is_old && job.rows > rows_at_once;
        if (is_large && found.jobs.empty()) {
            after_ = job.id;
            found.large = job;
            return found;
        }
        if (is_large || std::ssize(found.jobs) == limit || rows >= rows_at_once) return found;
        after_ = job.id;
        if (!is_old) continue;
        found.jobs.push_back(job.id);
        rows += job.rows;
    }
    has_seen_all_ = std::ssize(ended) < looked_at;
    return found;
}

int RemoveOldJobs::run(Transaction& tx, int limit) {
    if (has_seen_all_) {
        after_ = {};
        vain_steps_ = 0;
    }
    const Candidates candidates = next_candidates(tx, limit);
    return candidates.large ? remove_part(tx, *candidates.large) : remove(tx, candidates.jobs);
}

// Where too much was read or asked, the next step goes on.
std::vector<JobId> RemoveOldJobs::choose(Transaction& tx, std::span<const JobId> candidates) {
    const std::vector<JobId> unneeded = tx.archive().unneeded(candidates);
    CountedSuccesses counted(tx.reader(), tx.rules().kinds);
    std::vector<JobId> over;
    std::size_t bytes = 0;
    for (std::size_t read = 0; read < unneeded.size(); read += read_at_once) {
        if (bytes >= bytes_max || counted.searches() >= searches_max) {
            after_ = unneeded[read - 1];
            has_seen_all_ = false;
            break;
        }
        const std::size_t count = std::min(read_at_once, unneeded.size() - read);
        const auto jobs = tx.jobs().find(std::span(unneeded).subspan(read, count));
        counted.prepare(jobs);
        for (const std::optional<Job>& job : jobs) {
            if (!job || !is_over(*job, retention_, tx.now())) continue;
            bytes += text_bytes(*job);
            if (counted.has(*job)) continue;
            over.push_back(job->spec->id);
        }
    }
    return over;
}

int RemoveOldJobs::remove(Transaction& tx, std::span<const JobId> candidates) {
    const std::vector<JobId> over =
        candidates.empty() ? std::vector<JobId>() : choose(tx, candidates);
    if (over.empty()) {
        ++vain_steps_;
        return 0;
    }
    tx.archive().remove(over);
    tx.note_removed(over);
    return static_cast<int>(over.size());
}

// After the first part the job is gone for all readers; the rest of it comes again at once.
int RemoveOldJobs::remove_part(Transaction& tx, const EndedJob& job) {
    if (!job.is_rest && choose(tx, {&job.id, 1}).empty()) {
        ++vain_steps_;
        return 0;
    }
    if (!tx.archive().remove_part(job.id)) after_ = JobId{job.id.value - 1};
    tx.note_removed({&job.id, 1});
    return job.is_rest ? 0 : 1;
}

}  // namespace sluice
