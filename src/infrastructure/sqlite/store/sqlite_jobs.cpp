#include "infrastructure/sqlite/store/sqlite_jobs.hpp"

#include "domain/values/check.hpp"
#include "infrastructure/sqlite/database/bindings.hpp"
#include "infrastructure/sqlite/database/queries.hpp"

namespace sluice::sqlite {
namespace {

// A job that is put behind more jobs of its lane than this is not claimed soon enough to be worth
// keeping at hand. The length of other lanes does not matter: the jobs of a short one are claimed
// soon.
constexpr std::size_t short_lane = 4096;

}  // namespace

SqliteJobs::SqliteJobs(sqlite3* connection, JobQueries& queries, QueueIndex& index, Marks& marks)
    : queries_(queries),
      index_(index),
      marks_(marks),
      insert_job_(connection, sql::insert_job),
      insert_dependency_(connection, sql::insert_dependency),
      insert_requeued_(connection, sql::insert_requeued),
      delete_requeued_(connection, sql::delete_requeued),
      insert_done_(connection, sql::insert_done),
      insert_unfinished_(connection, sql::insert_unfinished),
      delete_unfinished_(connection, sql::delete_unfinished),
      delete_unfinished_by_id_(connection, sql::delete_unfinished_by_id),
      update_lease_(connection, sql::update_lease),
      delete_lease_(connection, sql::delete_lease) {}

std::vector<std::optional<Job>> SqliteJobs::find(std::span<const JobId> ids) {
    std::vector<std::optional<Job>> jobs;
    jobs.reserve(ids.size());
    for (const JobId id : ids) {
        if (const Job* live = index_.live().find(id)) {
            jobs.emplace_back(*live);
        } else if (index_.leases().contains(id)) {
            jobs.emplace_back(queries_.find_leased(id));
        } else {
            jobs.push_back(queries_.read(id));
        }
    }
    return jobs;
}

void SqliteJobs::put(std::span<const Arrival> arrivals) {
    write(arrivals);
    for (const Arrival& arrival : arrivals) {
        const Job& job = arrival.job;
        if (may_be_requeued(job, 1)) insert_requeued_.run(std::span(&job, 1), bind_requeued);
        marks_.job_put(job.spec->id);
        const std::size_t in_lane =
            index_.ready().add(job.spec, job.now.run_after, arrival.blocked);
        if (in_lane <= short_lane) index_.live().keep(job);
    }
}

void SqliteJobs::write(std::span<const Arrival> arrivals) {
    insert_job_.run(arrivals, [](Statement& insert, int offset, const Arrival& arrival) {
        check(arrival.job.now.head.seq <= 1, "a job is put with its first event");
        bind_job(insert, offset, arrival.job);
    });
    for (const Arrival& arrival : arrivals) {
        const JobSpec& spec = arrival.job.spec;
        if (!spec.project.empty()) run_on_unfinished(insert_unfinished_, spec);
        insert_dependency_.run(spec.depends_on,
                               [&](Statement& insert, int offset, JobId dependency) {
                                   bind_dependency(insert, offset, {spec.id, dependency});
                               });
    }
}

void SqliteJobs::requeue(std::span<const Job> jobs) {
    insert_requeued_.run(jobs, bind_requeued);
    for (const Job& job : jobs) {
        close_lease(job.spec->id);
        index_.live().forget(job.spec->id);
        index_.ready().add(job.spec, job.now.run_after, false);
    }
}

void SqliteJobs::finish(std::span<const Job> jobs) {
    insert_done_.run(jobs, bind_done);
    for (const Job& job : jobs) {
        if (!job.spec->project.empty()) forget_unfinished(job.spec);
        index_.live().forget(job.spec->id);
        if (job.lease) {
            keep_lease(job);
        } else if (index_.leases().contains(job.spec->id)) {
            close_lease(job.spec->id);
        } else {
            leave_queue(job);
        }
    }
    marks_.jobs_finished(jobs.size());
}

// A row that was changed from outside may name another project or type than the job was put with.
void SqliteJobs::forget_unfinished(const JobSpec& spec) {
    run_on_unfinished(delete_unfinished_, spec);
    if (delete_unfinished_.changes() == 0) delete_unfinished_by_id_.with(spec.id).run();
}

// The caller has decided by the token that it read in this same transaction. The row may have been
// removed from outside.
void SqliteJobs::close_lease(JobId id) {
    delete_lease_.with(id).run();
    index_.leases().erase(id);
    index_.ready().release(id);
}

// The worker may still be at work: its keys stay taken and its term runs on, but no deadline does.
void SqliteJobs::keep_lease(const Job& job) {
    update_lease(update_lease_, job);
    index_.leases().set(job.spec->id, job.lease->until, never);
}

void SqliteJobs::leave_queue(const Job& job) {
    if (!index_.ready().remove(job.spec, job.now.run_after)) index_.lost_track();
    if (may_be_requeued(job, 2)) delete_requeued_.with(job.spec->id).run();
}

std::vector<JobId> SqliteJobs::dependents(std::span<const JobId> ended) {
    return index_.ready().dependents(ended);
}

void SqliteJobs::unblock(std::span<const Job> jobs) {
    for (const Job& job : jobs) index_.ready().unblock(job.spec, job.now.run_after);
}

}  // namespace sluice::sqlite
