#include "infrastructure/sqlite/sqlite_jobs.hpp"

#include "domain/check.hpp"
#include "infrastructure/sqlite/job_rows.hpp"
#include "infrastructure/sqlite/queries.hpp"

namespace sluice::sqlite {

SqliteJobs::SqliteJobs(sqlite3* connection, JobQueries& queries, QueueIndex& index, Marks& marks)
    : queries_(queries),
      index_(index),
      marks_(marks),
      insert_job_(connection, sql::insert_job),
      insert_dependency_(connection, sql::insert_dependency),
      insert_requeued_(connection, sql::insert_requeued),
      delete_requeued_(connection, sql::delete_requeued),
      insert_done_(connection, sql::insert_done),
      update_lease_(connection, sql::update_lease),
      delete_lease_(connection, sql::delete_lease) {}

std::vector<std::optional<Job>> SqliteJobs::find(std::span<const JobId> ids) {
    std::vector<std::optional<Job>> jobs;
    jobs.reserve(ids.size());
    for (const JobId id : ids) {
        if (index_.leases().contains(id)) {
            jobs.emplace_back(queries_.find_leased(id));
        } else {
            jobs.push_back(queries_.find(id));
        }
    }
    return jobs;
}

std::vector<Job> SqliteJobs::list(const JobFilter& filter, JobId before, int limit) {
    return queries_.list(filter, before, limit);
}

std::vector<Event> SqliteJobs::events(JobId job, std::int64_t after, int limit) {
    return queries_.events(job, after, limit);
}

std::vector<LogLine> SqliteJobs::logs(JobId job, std::int64_t after, int limit) {
    return queries_.logs(job, after, limit);
}

std::vector<JobId> SqliteJobs::ids_after(JobId after, int limit) {
    return queries_.ids_after(after, limit);
}

void SqliteJobs::put(std::span<const Arrival> arrivals) {
    for (const Arrival& arrival : arrivals) {
        const JobSpec& spec = arrival.job.spec;
        check(arrival.job.head.seq <= 1, "a job is put with its first event");
        insert_job(insert_job_, arrival.job);
        for (const JobId dependency : spec.depends_on) {
            insert_dependency_.with(spec.id, dependency).run();
        }
        if (may_be_requeued(arrival.job, 1)) insert_requeued(insert_requeued_, arrival.job);
        marks_.job_put(spec.id);
        index_.ready().add(spec, arrival.job.run_after, arrival.blocked);
    }
}

void SqliteJobs::requeue(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        insert_requeued(insert_requeued_, job);
        close_lease(job.spec.id);
        index_.ready().add(job.spec, job.run_after, false);
    }
}

void SqliteJobs::finish(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        insert_done(insert_done_, job);
        if (job.lease) {
            keep_lease(job);
        } else if (index_.leases().contains(job.spec.id)) {
            close_lease(job.spec.id);
        } else {
            leave_queue(job);
        }
    }
    marks_.jobs_finished(jobs.size());
}

// The caller has decided by the token that it read in this same transaction.
void SqliteJobs::close_lease(JobId id) {
    delete_lease_.with(id).run_on_one_row();
    index_.leases().erase(id);
    index_.ready().free_keys(id);
}

// The worker may still be at work: its keys stay taken and its term runs on, but no deadline does.
void SqliteJobs::keep_lease(const Job& job) {
    update_lease(update_lease_, job);
    index_.leases().set(job.spec.id, job.lease->until, never);
}

void SqliteJobs::leave_queue(const Job& job) {
    check(index_.ready().remove(job.spec, job.run_after), "a job that ends was queued or running");
    if (may_be_requeued(job, 2)) delete_requeued_.with(job.spec.id).run();
}

std::vector<JobId> SqliteJobs::dependents(std::span<const JobId> ended) {
    return index_.ready().dependents(ended);
}

void SqliteJobs::unblock(std::span<const Job> jobs) {
    for (const Job& job : jobs) index_.ready().unblock(job.spec, job.run_after);
}

}  // namespace sluice::sqlite
