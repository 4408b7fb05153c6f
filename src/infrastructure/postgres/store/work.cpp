#include "infrastructure/postgres/store/work.hpp"

#include <algorithm>

#include "domain/values/check.hpp"
#include "infrastructure/postgres/schema/write_queries.hpp"
#include "infrastructure/sql/job_rows.hpp"

namespace sluice::postgres {

namespace {

Work::LeaseNote note_of(const Job& job) {
    return {job.lease ? std::optional(job.lease->token) : std::nullopt};
}

}  // namespace

void Work::keep(Job job) {
    const JobId id = job.spec->id;
    const LeaseNote note = note_of(job);
    locked_.insert_or_assign(id, Locked{std::move(job), note});
}

void Work::let_go(const Job& written) {
    locked_.insert_or_assign(written.spec->id, Locked{std::nullopt, note_of(written)});
}

std::optional<Work::LeaseNote> Work::lease_of(JobId id) const {
    const auto found = locked_.find(id);
    return found == locked_.end() ? std::nullopt : std::optional(found->second.lease);
}

const Job* Work::at_hand(JobId id) const {
    const auto found = locked_.find(id);
    return found == locked_.end() || !found->second.job ? nullptr : &*found->second.job;
}

std::vector<std::optional<Job>> Work::find(std::span<const JobId> ids) {
    std::vector<std::optional<Job>> found;
    found.reserve(ids.size());
    std::vector<JobId> missing;
    for (const JobId id : ids) {
        const auto locked = locked_.find(id);
        const bool at_hand = locked != locked_.end() && locked->second.job;
        found.push_back(at_hand ? std::exchange(locked->second.job, std::nullopt) : std::nullopt);
        if (!at_hand) missing.push_back(id);
    }
    if (missing.empty()) return found;
    writes.flush();
    std::vector<std::optional<Job>> read = find_jobs(connection, missing);
    auto next = read.begin();
    for (std::optional<Job>& job : found) {
        if (!job) job = std::move(*next++);
    }
    return found;
}

Work::LeaseLocks Work::post_lock_leased(std::vector<JobId> sorted) {
    LeaseLocks locks;
    locks.leases = connection.post(sql::lock_leases, Params(sorted));
    locks.specs = cluster.specs.find(sorted);
    std::vector<JobId> unknown;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (!locks.specs[i]) unknown.push_back(sorted[i]);
    }
    if (!unknown.empty()) locks.unknown_specs = post_find_specs(connection, unknown);
    locks.ids = std::move(sorted);
    return locks;
}

std::vector<JobId> Work::take_leased(LeaseLocks locks) {
    const Result leases = connection.take(locks.leases);
    SubmittedJobs read;
    if (locks.unknown_specs) read = take_specs(connection, *locks.unknown_specs);

    std::vector<JobId> over;
    std::vector<Job> fresh;  // for the cache: the next heartbeat comes to this node, too
    std::size_t index = 0;
    for (int i = 0; i < leases.rows(); ++i) {
        Row row(leases, i);
        const JobId id{row.integer()};
        if (row.flag()) {
            over.push_back(id);
            continue;
        }
        while (locks.ids[index] < id) ++index;
        Job job;
        if (locks.specs[index]) {
            job.spec = *std::move(locks.specs[index]);
        } else {
            const Job& stored = read.at(id);
            job.spec = stored.spec;
            job.damage = stored.damage;
            if (stored.damage.empty()) fresh.push_back(stored);
        }
        read_lease(row, job);
        keep(std::move(job));
    }
    cluster.specs.keep(fresh);
    return over;
}

SubmittedJobs Work::complete(std::span<const JobId> ids,
                             std::vector<std::optional<SubmittedJob>> at_hand) {
    SubmittedJobs jobs;
    std::vector<JobId> unknown;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (at_hand[i]) {
            jobs.emplace(ids[i], as_submitted(std::move(at_hand[i]->spec), at_hand[i]->first));
        } else {
            unknown.push_back(ids[i]);
        }
    }
    if (!unknown.empty()) {
        jobs.merge(take_specs(connection, post_find_specs(connection, unknown)));
    }
    return jobs;
}

std::vector<SharedSpec> Work::read_locked(const std::vector<JobId>& ids) {
    std::vector<SharedSpec> queued;
    if (ids.empty()) return queued;
    writes.flush();
    for (std::optional<Job>& job : find_jobs(connection, ids)) {
        if (!job) continue;
        if (job->now.state == JobState::queued) queued.push_back(job->spec);
        keep(*std::move(job));
    }
    return queued;
}

LaneId Work::lane_of_job(const JobSpec& spec) {
    if (last_lane_) {
        const Lane& last = last_lane_->first;
        if (last.tenant == spec.tenant && last.queue == spec.queue && last.type == spec.type &&
            last.labels == spec.labels && last.source == spec.source) {
            return last_lane_->second;
        }
    }
    const Lane lane = lane_of(spec);
    const LaneId id = lane_id(lane);
    if (!cluster.lanes.knows(id) && new_lanes_.emplace(id, lane).second) {
        writes.insert_lane(id, lane);
    }
    last_lane_ = {lane, id};
    return id;
}

Lane Work::lane(LaneId id) const {
    const auto fresh = new_lanes_.find(id);
    if (fresh != new_lanes_.end()) return fresh->second;
    const std::optional<Lane> known = cluster.lanes.find(id);
    check(known.has_value(), "a lane with jobs is known");
    return *known;
}

std::vector<LaneId> Work::matching_lanes(const ClaimFilter& filter) const {
    std::vector<LaneId> ids = cluster.lanes.matching(filter);
    for (const auto& [id, lane] : new_lanes_) {
        if (filter.accepts(lane)) ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

bool Work::learn_new_lanes() {
    const Result news = connection.take(cluster.lanes.ask_for_news(connection));
    return cluster.lanes.take_news(news, new_lanes_);
}

void Work::know(LaneId id) {
    if (cluster.lanes.knows(id) || new_lanes_.contains(id)) return;
    cluster.lanes.load(connection, new_lanes_);
}

void Work::readied_by_others(LaneId lane, int count) {
    know(lane);
    ready(lane, count);
}

void Work::lanes_committed() {
    for (const auto& [id, lane] : new_lanes_) cluster.lanes.add(id, lane);
}

void Work::enqueue(const Job& job) {
    const LaneId lane = lane_of_job(job.spec);
    if (job.now.run_after <= seen) {
        writes.insert_ready(lane, job.spec);
        ready(lane, 1);
    } else {
        writes.insert_timed(lane, job);
        timed_due = std::min(timed_due, job.now.run_after);
    }
}

// ── keys ──

// A damaged row may no longer tell which keys the job holds.
void Work::free_keys_of(const Job& job) {
    if (!job.damage.empty() || !held_keys(job.spec).empty()) freed_jobs.push_back(job.spec->id);
}

void Work::may_be_free(const std::string& tenant, const std::string& key) {
    free_keys_.emplace_back(tenant, key);
}

void Work::look_after_keys_of(const JobSpec& spec) {
    for (const std::string& key : held_keys(spec)) looked_after_.emplace(spec.tenant, key);
}

// A key that is looked after is locked where another session holds it, together with the keys that
// this session frees. If the other session is about to free it, and has passed over this session's
// job, it is waited for, and the job is promoted here; otherwise it waits for this session, and
// then sees the job. By then it waits for no job and no entity of this session
// (docs/adr/0014-entities-in-sets.md).
void Work::lock_looked_after() {
    if (looked_after_.empty()) return;
    permits.keys_were_touched();
    writes.flush();
    TableKeys<tables::held_table> keys;
    for (const auto& [tenant, key] : looked_after_) keys.add(tables::HeldKey{tenant, key});
    connection.send(sql::lock_keys, Params(keys, freed_jobs));
    free_keys_.insert(free_keys_.end(), looked_after_.begin(), looked_after_.end());
    looked_after_.clear();
}

// The parked jobs must be read by a statement that begins after the key was freed: a session that
// parked a job at it meanwhile had locked the key, and has committed by then.
void Work::settle_keys() {
    lock_looked_after();
    if (!freed_jobs.empty()) {
        permits.keys_were_touched();
        writes.flush();
        std::sort(freed_jobs.begin(), freed_jobs.end());
        const Result freed = connection.ask(sql::free_keys, Params(freed_jobs));
        freed_jobs.clear();
        for (int i = 0; i < freed.rows(); ++i) {
            Row row(freed, i);
            std::string tenant = row.text();
            free_keys_.emplace_back(std::move(tenant), row.text());
            taken_keys.erase(free_keys_.back());
        }
        writes.note_written();
    }
    if (free_keys_.empty()) return;
    writes.flush();
    std::sort(free_keys_.begin(), free_keys_.end());
    free_keys_.erase(std::unique(free_keys_.begin(), free_keys_.end()), free_keys_.end());
    TableKeys<tables::held_table> keys;
    for (const auto& [tenant, key] : free_keys_) keys.add(tables::HeldKey{tenant, key});
    free_keys_.clear();
    const Result promoted = connection.ask(sql::promote_parked, Params(keys));
    for (int i = 0; i < promoted.rows(); ++i) {
        Row row(promoted, i);
        const LaneId lane = row.integer();
        readied_by_others(lane, row.small());
        writes.note_written();
    }
}

}  // namespace sluice::postgres
