#include "infrastructure/postgres/store/postgres_leases.hpp"

#include <algorithm>

#include "infrastructure/postgres/schema/write_queries.hpp"
#include "infrastructure/sql/job_rows.hpp"

namespace sluice::postgres {
namespace {

constexpr int promoted_at_once = 2000;
constexpr Duration look_again_after = std::chrono::milliseconds(200);

Timestamp first_moment(const Result& result) {
    Row row(result, 0);
    return row.maybe_time().value_or(never);
}

}  // namespace

PostgresLeases::~PostgresLeases() {
    work_.cluster.lease_due.lower(lease_mark_);
    work_.cluster.timed_due.lower(timed_mark_);
}

void PostgresLeases::committed() {
    if (!knows_next_lease_) work_.cluster.lease_due.lower(lease_mark_);
    work_.cluster.lease_due.lower(work_.lease_due);
    work_.cluster.timed_due.lower(work_.timed_due);
    lease_mark_ = timed_mark_ = never;
    work_.cluster.specs.forget(work_.ended);
}

// ── claims and leases ──

std::vector<std::vector<Job>> PostgresLeases::take(std::span<const Wanted> wanted, Timestamp now) {
    see(now);
    promote_due(now);
    return claims_.take(wanted, now);
}

void PostgresLeases::watch(const Job& job) {
    const Timestamp deadline = watched_deadline(job).value_or(never);
    work_.lease_due = std::min({work_.lease_due, job.lease->until, deadline});
}

void PostgresLeases::open(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        work_.writes.touch(job.spec->id);
        work_.writes.insert_lease(job, work_.lane_of_job(job.spec));
        if (may_be_requeued(job, 2)) work_.writes.delete_requeued(job.spec->id);
        watch(job);
        work_.let_go(job);
    }
    work_.cluster.specs.keep(jobs);
}

void PostgresLeases::save(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        work_.writes.touch(job.spec->id);
        work_.writes.update_lease(job);
        watch(job);
        work_.keep(job);
    }
}

void PostgresLeases::close(std::span<const Job> jobs) {
    for (const Job& job : jobs) {
        work_.writes.touch(job.spec->id);
        work_.writes.delete_lease(job.spec->id);
        work_.writes.update_done(job);
        work_.permits.give_back(job.spec);
        work_.free_keys_of(job);
        work_.let_go(job);
        work_.ended.push_back(job.spec->id);
    }
}

void PostgresLeases::give_back(Duration lost, Timestamp now) {
    work_.connection.send(sql::extend_leases, Params(lost, now));
    work_.writes.note_written();
}

// ── due work ──

// A lease that is locked is passed over: another committer deals with it.
std::vector<JobId> PostgresLeases::look(const Query& query, Timestamp now, int limit) {
    see(now);
    if (std::min({work_.cluster.lease_due.get(), lease_mark_, work_.lease_due}) > now) return {};
    lease_mark_ = std::min(lease_mark_, work_.cluster.lease_due.take());
    has_looked_ = true;
    work_.writes.flush();
    const Result found = work_.connection.ask(query, Params(now, limit, work_.cluster.time.now()));
    std::vector<JobId> ids;
    for (int i = 0; i < found.rows(); ++i) ids.push_back(JobId{Row(found, i).integer()});
    has_found_ = has_found_ || !ids.empty();
    std::vector<JobId> sorted = ids;
    std::sort(sorted.begin(), sorted.end());
    if (!sorted.empty()) {
        work_.read_locked(work_.take_leased(work_.post_lock_leased(std::move(sorted))));
    }
    return ids;
}

std::vector<JobId> PostgresLeases::expired(Timestamp now, int limit) {
    return look(sql::find_expired, now, limit);
}

std::vector<JobId> PostgresLeases::overdue(Timestamp now, int limit) {
    return look(sql::find_overdue, now, limit);
}

Timestamp PostgresLeases::next_due() {
    if (has_looked_) {
        work_.writes.flush();
        work_.lease_due = first_moment(work_.connection.ask(sql::next_lease_moments));
        // A lease that is due and was not found is locked by another session, or must not end now.
        if (!has_found_) work_.lease_due = std::max(work_.lease_due, work_.seen + look_again_after);
        knows_next_lease_ = true;
    }
    const Timestamp counts_due = work_.counted.empty() ? work_.cluster.source_counts.due()
                                                       : work_.seen + sources_written_every;
    return std::min({work_.lease_due, work_.timed_due, work_.cluster.lease_due.get(),
                     work_.cluster.timed_due.get(), work_.cluster.limits.next_due(), counts_due});
}

void PostgresLeases::promote_due(Timestamp now) {
    if (std::min({work_.cluster.timed_due.get(), timed_mark_, work_.timed_due}) > now) return;
    timed_mark_ = std::min(timed_mark_, work_.cluster.timed_due.take());
    work_.writes.flush();
    const auto promoting = work_.connection.post(sql::promote_timed, Params(now, promoted_at_once));
    const auto next = work_.connection.post(sql::next_timed);
    const Result promoted = work_.connection.take(promoting);
    for (int i = 0; i < promoted.rows(); ++i) {
        Row row(promoted, i);
        const LaneId lane = row.integer();
        work_.readied_by_others(lane, row.small());
        work_.writes.note_written();
    }
    work_.timed_due = first_moment(work_.connection.take(next));
    // Jobs that are due and were passed over are locked by other sessions.
    if (work_.timed_due <= now) {
        work_.timed_due =
            promoted.rows() > 0 ? work_.timed_due : std::max(work_.seen, now) + look_again_after;
    }
}

std::vector<Readied> PostgresLeases::newly_ready(Timestamp now) {
    see(now);
    promote_due(now);
    work_.settle_keys();
    for (const auto& [lane, count] : work_.permits.open_due(now)) {
        work_.readied_by_others(lane, count);
    }
    std::vector<Readied> ready;
    for (const auto& [lane, count] : work_.readied) ready.push_back({work_.lane(lane), count});
    work_.readied.clear();
    return ready;
}

// ── questions of operators ──

std::vector<std::optional<JobId>> PostgresLeases::holders(const std::string& tenant,
                                                          std::span<const std::string> keys) {
    work_.settle_keys();
    work_.writes.flush();
    const std::vector<std::string> names(keys.begin(), keys.end());
    const Result found = work_.connection.ask(sql::find_holders, Params(names, tenant));
    std::vector<std::optional<JobId>> holders;
    for (int i = 0; i < found.rows(); ++i) {
        const std::optional<std::int64_t> id = Row(found, i).maybe_integer();
        holders.push_back(id ? std::optional(JobId{*id}) : std::nullopt);
    }
    return holders;
}

Depths PostgresLeases::depths() {
    work_.writes.flush();
    return count_depths(work_.connection);
}

}  // namespace sluice::postgres
