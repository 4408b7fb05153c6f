#include "infrastructure/postgres/store/postgres_jobs.hpp"

#include <algorithm>

#include "infrastructure/postgres/schema/write_queries.hpp"
#include "infrastructure/sql/job_rows.hpp"

namespace sluice::postgres {
namespace {

void sort_and_unify(std::vector<JobId>& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

template <class See>
void for_each_pair(const Result& pairs, See&& see) {
    for (int i = 0; i < pairs.rows(); ++i) {
        Row row(pairs, i);
        const JobId first{row.integer()};
        see(first, JobId{row.integer()});
    }
}

}  // namespace

// A session that moves a leased job holds the lock of its lease; one that moves a queued job, that
// of its row in job, but for claims, which lock its row in ready. Jobs are locked first, then
// leases, each in order, then rows in ready. The dependents of these jobs are asked for once the
// jobs are locked, so that no job can become a dependent unseen. The dependents of a job that may
// end are locked, too, before any entity.
void PostgresJobs::reserve(const Subjects& subjects) {
    std::vector<JobId> jobs = subjects.jobs;
    sort_and_unify(jobs);
    std::vector<JobId> all = subjects.leased;
    all.insert(all.end(), jobs.begin(), jobs.end());
    sort_and_unify(all);
    if (all.empty()) return;

    if (!jobs.empty()) work_.connection.send(sql::lock_jobs, Params(jobs));
    auto locks = work_.post_lock_leased(all);
    const auto asked = work_.connection.post(sql::find_blockers, Params(all));
    work_.read_locked(work_.take_leased(std::move(locks)));
    std::vector<JobId> unleased;
    for (const JobId id : jobs) {
        if (!work_.lease_of(id)) unleased.push_back(id);
    }
    const std::vector<SharedSpec> queued = work_.read_locked(unleased);
    refuse_leased(unleased);
    hold_in_queue(queued);
    for_each_pair(work_.connection.take(asked), [&](JobId ended, JobId waiting) {
        blocked_by_reserved_[ended].push_back(waiting);
    });
    reserved_.insert(all.begin(), all.end());
    lock_waiting(blocked_by(subjects.ending));
}

// These jobs had no lease to lock, and have one now: another session has claimed them in between.
// The next try locks it.
void PostgresJobs::refuse_leased(const std::vector<JobId>& ids) {
    for (const JobId id : ids) {
        const auto lease = work_.lease_of(id);
        if (lease && lease->token) throw StoreConflict("a job was claimed meanwhile");
    }
}

std::vector<JobId> PostgresJobs::lock_ready(const std::vector<SharedSpec>& queued) {
    TableKeys<tables::ready_table> rows;
    for (const SharedSpec& spec : queued) {
        const LaneId lane = work_.lane_of_job(spec);
        rows.add(tables::QueueRow{.lane = lane, .priority = spec->priority, .id = spec->id});
        work_.ready(lane, 1);  // claims pass over it meanwhile, and must look once more
    }
    std::vector<JobId> locked;
    if (rows.empty()) return locked;
    const Result found = work_.connection.ask(sql::lock_ready, Params(rows));
    for (int i = 0; i < found.rows(); ++i) locked.push_back(JobId{Row(found, i).integer()});
    return locked;
}

// A claim moves a job without the lock of its row in job. So jobs that are ready are locked there,
// too: a session that takes one of them is waited for. A job that is not ready waits in another
// table of the queue, where it stays, or has ended by now; if it was claimed, or became ready
// again, the next try sees that.
void PostgresJobs::hold_in_queue(const std::vector<SharedSpec>& queued) {
    const std::vector<JobId> held = lock_ready(queued);
    std::vector<JobId> gone;
    for (const SharedSpec& spec : queued) {
        if (std::find(held.begin(), held.end(), spec->id) == held.end()) gone.push_back(spec->id);
    }
    if (gone.empty()) return;
    const std::vector<SharedSpec> elsewhere = work_.read_locked(gone);
    for (const SharedSpec& spec : elsewhere) work_.look_after_keys_of(*spec);
    refuse_leased(gone);
    if (!lock_ready(elsewhere).empty()) throw StoreConflict("a job became ready meanwhile");
}

std::vector<std::optional<Job>> PostgresJobs::find(std::span<const JobId> ids) {
    return work_.find(ids);
}

// ── writing ──

void PostgresJobs::put(std::span<const Arrival> arrivals) {
    for (const Arrival& arrival : arrivals) {
        const Job& job = arrival.job;
        work_.seen = std::max(work_.seen, job.spec->created_at);
        if (!work_.cluster.windows.has(job.spec->id)) {
            throw StoreConflict("the window of the job's day is missing");  // the next try adds it
        }
        work_.writes.touch(job.spec->id);
        work_.writes.insert_job(job);
        if (may_be_requeued(job, 1)) work_.writes.insert_requeued(job, {});
        if (arrival.blocked) {
            work_.writes.insert_blockers(work_.lane_of_job(job.spec), job.spec);
        } else {
            work_.enqueue(job);
        }
        work_.let_go(job);
        work_.submitted.push_back({job.spec, job.now.head.hash});
    }
}

void PostgresJobs::requeue(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        const auto before = work_.lease_of(job.spec->id).value_or(Work::LeaseNote{});
        work_.writes.touch(job.spec->id);
        work_.writes.delete_lease(job.spec->id);
        work_.writes.insert_requeued(job, before.token.value_or(LeaseToken{}));
        work_.permits.give_back(job.spec);
        work_.free_keys_of(job);
        work_.enqueue(job);
        work_.let_go(job);
    }
}

// Jobs that were not reserved may have leases, which has to be known where permits are counted.
void PostgresJobs::know_leases(std::span<const Job> jobs) {
    if (work_.permits.rules()->empty()) return;
    std::vector<JobId> unknown;
    for (const Job& job : jobs) {
        if (!work_.lease_of(job.spec->id)) unknown.push_back(job.spec->id);
    }
    if (unknown.empty()) return;
    std::sort(unknown.begin(), unknown.end());
    work_.take_leased(work_.post_lock_leased(std::move(unknown)));
}

void PostgresJobs::finish(std::span<const Job> jobs) {
    know_leases(jobs);
    for (const Job& job : jobs) {
        const std::optional<Work::LeaseNote> before = work_.lease_of(job.spec->id);
        const bool may_be_leased = !before || before->token;
        const bool may_be_queued = !before || !before->token;
        work_.writes.touch(job.spec->id);
        work_.writes.insert_done(job);
        if (job.lease) {
            work_.writes.update_lease(job);
        } else {
            if (may_be_leased) {
                work_.writes.delete_lease(job.spec->id);
                if (before) work_.permits.give_back(job.spec);
                work_.free_keys_of(job);
            }
            if (may_be_queued) leave_queue(job);
            work_.ended.push_back(job.spec->id);
        }
        work_.let_go(job);
    }
}

// It may have been the one job of its lane that was in ready for others that wait for the same
// keys.
void PostgresJobs::leave_queue(const Job& job) {
    work_.writes.delete_queued(work_.lane_of_job(job.spec), job);
    if (may_be_requeued(job, 2)) work_.writes.delete_requeued(job.spec->id);
    for (const std::string& key : held_keys(job.spec)) work_.may_be_free(job.spec->tenant, key);
}

std::vector<JobId> PostgresJobs::blocked_by(std::span<const JobId> ended) {
    std::vector<JobId> waiting;
    const bool known =
        std::all_of(ended.begin(), ended.end(), [&](JobId id) { return reserved_.contains(id); });
    if (known) {
        for (const JobId id : ended) {
            const auto found = blocked_by_reserved_.find(id);
            if (found == blocked_by_reserved_.end()) continue;
            waiting.insert(waiting.end(), found->second.begin(), found->second.end());
        }
    } else {
        work_.writes.flush();
        const std::vector<JobId> ids(ended.begin(), ended.end());
        for_each_pair(work_.connection.ask(sql::find_blockers, Params(ids)),
                      [&](JobId, JobId id) { waiting.push_back(id); });
    }
    sort_and_unify(waiting);
    return waiting;
}

// A job that another session has locked is not waited for: that session may wait for a job or an
// entity of this one. The next try reserves it.
void PostgresJobs::lock_waiting(const std::vector<JobId>& waiting) {
    std::vector<JobId> wanted;
    for (const JobId id : waiting) {
        if (!locked_waiting_.contains(id)) wanted.push_back(id);
    }
    if (wanted.empty()) return;
    const Result locked = work_.connection.ask(sql::try_lock_jobs, Params(wanted));
    for (int i = 0; i < locked.rows(); ++i) {
        locked_waiting_.insert(JobId{Row(locked, i).integer()});
    }
    std::erase_if(wanted, [&](JobId id) { return locked_waiting_.contains(id); });
    if (!wanted.empty()) throw JobsBusy(std::move(wanted));
}

// The dependents are locked, and then read again: one may have been canceled meanwhile.
std::vector<JobId> PostgresJobs::dependents(std::span<const JobId> ended) {
    const std::vector<JobId> candidates = blocked_by(ended);
    if (candidates.empty()) return {};

    work_.writes.flush();
    lock_waiting(candidates);
    const std::vector<JobId> ids(ended.begin(), ended.end());
    std::vector<JobId> waiting;
    for_each_pair(work_.connection.ask(sql::find_blockers, Params(ids)), [&](JobId, JobId id) {
        if (std::binary_search(candidates.begin(), candidates.end(), id)) waiting.push_back(id);
    });
    sort_and_unify(waiting);
    work_.read_locked(waiting);
    return waiting;
}

void PostgresJobs::unblock(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        work_.writes.touch(job.spec->id);
        work_.writes.delete_blockers(job.spec->id);
        work_.enqueue(job);
        work_.let_go(job);
    }
}

}  // namespace sluice::postgres
