#include "infrastructure/sqlite/store/sqlite_leases.hpp"

#include <algorithm>

#include "infrastructure/sqlite/database/bindings.hpp"
#include "infrastructure/sqlite/database/queries.hpp"
#include "infrastructure/sqlite/database/reading.hpp"

namespace sluice::sqlite {
namespace {

// Jobs are in the order of their ids.
const Job* find_in(std::span<const Job> jobs, JobId id) {
    const auto found = std::lower_bound(jobs.begin(), jobs.end(), id,
                                        [](const Job& job, JobId b) { return job.spec->id < b; });
    return found == jobs.end() || found->spec->id != id ? nullptr : &*found;
}

}  // namespace

SqliteLeases::SqliteLeases(sqlite3* connection, JobQueries& queries, QueueIndex& index,
                           Marks& marks)
    : queries_(queries),
      index_(index),
      marks_(marks),
      insert_lease_(connection, sql::insert_lease),
      update_lease_(connection, sql::update_lease),
      delete_lease_(connection, sql::delete_lease),
      update_done_(connection, sql::update_done),
      delete_requeued_(connection, sql::delete_requeued),
      extend_leases_(connection, sql::extend_leases),
      list_ends_(connection, sql::list_lease_ends) {}

// Jobs that are not at hand are read together, after all claims have chosen.
std::vector<std::vector<Job>> SqliteLeases::take(std::span<const Wanted> wanted, Timestamp now) {
    const std::vector<std::vector<JobId>> chosen = index_.ready().take(wanted, now);
    std::vector<JobId> missing;
    for (const std::vector<JobId>& ids : chosen) {
        for (const JobId id : ids) {
            if (!index_.live().find(id)) missing.push_back(id);
        }
    }
    std::sort(missing.begin(), missing.end());
    const std::vector<Job> read = queries_.find_queued(missing);
    if (read.size() < missing.size()) index_.lost_track();

    std::vector<std::vector<Job>> taken;
    for (const std::vector<JobId>& ids : chosen) {
        std::vector<Job>& jobs = taken.emplace_back();
        jobs.reserve(ids.size());
        for (const JobId id : ids) {
            const Job* job = index_.live().find(id);
            if (!job) job = find_in(read, id);
            if (job) jobs.push_back(*job);
        }
    }
    return taken;
}

void SqliteLeases::open(std::span<const Job> jobs) {
    insert_lease_.run(jobs, bind_lease);
    for (const Job& job : jobs) {
        if (may_be_requeued(job, 2)) delete_requeued_.with(job.spec->id).run();
        index_.leases().set(job.spec->id, job.lease->until, watched_deadline(job).value_or(never));
        index_.live().keep(job);
        marks_.number_given(job.lease->token.value);
    }
}

void SqliteLeases::save(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        update_lease(update_lease_, job);
        index_.leases().set(job.spec->id, job.lease->until, watched_deadline(job).value_or(never));
        index_.live().keep(job);
    }
}

void SqliteLeases::close(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        delete_lease_.with(job.spec->id).run_on_one_row();
        update_done(update_done_, job);
        index_.live().forget(job.spec->id);
        index_.leases().erase(job.spec->id);
        index_.ready().release(job.spec->id);
    }
}

void SqliteLeases::give_back(Duration lost, Timestamp now) {
    extend_leases_.with(lost, now).run();
    const Reading reading(list_ends_.with());
    while (list_ends_.next_row()) {
        Row row(list_ends_);
        const JobId id{row.integer()};
        index_.leases().move(id, row.time());
        index_.live().forget(id);
    }
}

std::vector<JobId> SqliteLeases::expired(Timestamp now, int limit) {
    return index_.leases().expired(now, limit);
}

std::vector<JobId> SqliteLeases::overdue(Timestamp now, int limit) {
    return index_.leases().overdue(now, limit);
}

Timestamp SqliteLeases::next_due() {
    return std::min(index_.leases().next_due(), index_.ready().next_due());
}

std::vector<Readied> SqliteLeases::newly_ready(Timestamp now) {
    return index_.newly_ready(now);
}

std::vector<std::optional<JobId>> SqliteLeases::holders(const std::string& tenant,
                                                        std::span<const std::string> keys) {
    std::vector<std::optional<JobId>> found;
    found.reserve(keys.size());
    for (const std::string& key : keys) found.push_back(index_.ready().holder(tenant, key));
    return found;
}

std::vector<Depth> SqliteLeases::depths() {
    return index_.ready().depths();
}

}  // namespace sluice::sqlite
