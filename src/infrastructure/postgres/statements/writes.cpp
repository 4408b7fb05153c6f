#include "infrastructure/postgres/statements/writes.hpp"

#include <algorithm>

#include "domain/values/check.hpp"
#include "infrastructure/postgres/schema/write_queries.hpp"

namespace sluice::postgres {
namespace {

// An array of ctids, in binary: six bytes each.
std::string tid_array(const std::vector<std::string>& ctids) {
    constexpr std::uint32_t tid_type = 27;
    std::string bytes;
    const auto put = [&](std::uint32_t number) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            bytes += static_cast<char>((number >> shift) & 0xFF);
        }
    };
    put(1);  // dimensions
    put(0);  // no NULLs
    put(tid_type);
    put(static_cast<std::uint32_t>(ctids.size()));
    put(1);  // counted from one
    for (const std::string& ctid : ctids) {
        put(static_cast<std::uint32_t>(ctid.size()));
        bytes += ctid;
    }
    return bytes;
}

tables::QueueRow queue_row_of(LaneId lane, const JobSpec& spec, std::string_view keys) {
    return {.lane = lane, .priority = spec.priority, .id = spec.id, .keys = keys};
}

}  // namespace

std::string keys_text(const JobSpec& spec) {
    return join_texts(held_keys(spec));
}

void Writes::touch(JobId id) {
    if (touched_.contains(id)) flush();
    touched_.insert(id);
}

void Writes::insert_job(const Job& job) {
    check(job.now.head.seq <= 1, "a job is put with its first event");
    largest_ = std::max(largest_, job.spec->id.value);
    jobs_.add(*job.spec, job.now);
    if (is_final(job.now.state)) return;
    for (const JobId dependency : job.spec->depends_on) {
        dependencies_.add(tables::OpenDependency{dependency, job.spec->id});
    }
}

void Writes::insert_lane(LaneId id, const Lane& lane) {
    lanes_.add(tables::LaneRow{id, lane});
}

void Writes::insert_ready(LaneId lane, const JobSpec& spec) {
    const std::string keys = keys_text(spec);
    ready_.add(queue_row_of(lane, spec, keys));
}

void Writes::insert_timed(LaneId lane, const Job& job) {
    const std::string keys = keys_text(job.spec);
    tables::QueueRow row = queue_row_of(lane, job.spec, keys);
    row.run_after = job.now.run_after;
    timed_.add(row);
}

void Writes::insert_blockers(LaneId lane, const JobSpec& spec) {
    int nth = 0;
    for (const JobId dependency : spec.depends_on) {
        blockers_.add(tables::Blocker{dependency, spec.id, lane, nth++});
    }
}

void Writes::delete_blockers(JobId id) {
    left_blockers_.push_back(id);
}

void Writes::delete_taken(std::string_view ctid) {
    taken_.emplace_back(ctid);
}

void Writes::delete_queued(LaneId lane, const Job& job) {
    tables::QueueRow row = queue_row_of(lane, job.spec, {});
    row.run_after = job.now.run_after;
    left_ready_.add(row);
    left_timed_.add(row);
    if (!job.spec->depends_on.empty()) left_blockers_.push_back(job.spec->id);
    row.tenant = job.spec->tenant;
    for (const std::string& key : held_keys(job.spec)) {
        row.key = key;
        left_parked_.add(row);
    }
}

void Writes::insert_requeued(const Job& job, LeaseToken last) {
    requeued_.add(*job.spec, job.now, tables::LastLease{last});
}

void Writes::delete_requeued(JobId id) {
    left_requeued_.push_back(id);
}

void Writes::insert_done(const Job& job) {
    done_.add(*job.spec, job.now);
    for (const JobId dependency : job.spec->depends_on) {
        left_dependencies_.add(tables::OpenDependency{dependency, job.spec->id});
    }
}

void Writes::update_done(const Job& job) {
    changed_done_.add(*job.spec, job.now);
}

void Writes::insert_lease(const Job& job, LaneId lane) {
    largest_ = std::max(largest_, job.lease->token.value);
    leases_.add(*job.spec, job.now, *job.lease, job, tables::LeasedLane{lane});
}

void Writes::update_lease(const Job& job) {
    changed_leases_.add(*job.spec, job.now, *job.lease, job, tables::LeasedLane{});
}

void Writes::delete_lease(JobId id) {
    left_leases_.push_back(id);
}

void Writes::insert_event(const Event& event) {
    events_.add(event);
}

void Writes::insert_line(const LogLine& line) {
    lines_.add(line);
}

void Writes::insert_request(const IdempotentRequest& request) {
    new_requests_.add(request);
}

void Writes::put_request(const IdempotentRequest& request) {
    requests_.add(request);
}

void Writes::touch(const EntityKey& key) {
    if (touched_entities_.contains(key)) flush();
    touched_entities_.insert(key);
}

void Writes::insert_entity(const Entity& entity) {
    touch(entity.key);
    largest_ = std::max(largest_, entity.number);
    entities_.add(entity);
}

void Writes::update_entity(const Entity& entity) {
    touch(entity.key);
    changed_entities_.add(entity);
}

void Writes::insert_entity_event(const EntityEvent& event) {
    entity_events_.add(event);
}

void Writes::send(const Query& query, Columns& rows) {
    if (rows.empty()) return;
    connection_.send(query, Params(rows));
    rows.clear();
    has_written_ = true;
}

void Writes::send(const Query& query, std::vector<JobId>& ids) {
    if (ids.empty()) return;
    connection_.send(query, Params(ids));
    ids.clear();
    has_written_ = true;
}

void Writes::flush() {
    send(sql::insert_lanes, lanes_);
    send(sql::insert_jobs, jobs_);
    send(sql::insert_dependencies, dependencies_);
    if (!taken_.empty()) {
        connection_.send(sql::delete_taken, Params().add_raw(tid_array(taken_)));
        taken_.clear();
        has_written_ = true;
    }
    send(sql::delete_ready, left_ready_);
    send(sql::delete_timed, left_timed_);
    send(sql::delete_blockers, left_blockers_);
    send(sql::delete_parked, left_parked_);
    send(sql::delete_requeued, left_requeued_);
    send(sql::insert_requeued, requeued_);
    send(sql::delete_leases, left_leases_);
    send(sql::update_leases, changed_leases_);
    send(sql::insert_leases, leases_);
    send(sql::insert_done, done_);
    send(sql::delete_dependencies, left_dependencies_);
    send(sql::update_done, changed_done_);
    send(sql::insert_ready, ready_);
    send(sql::insert_timed, timed_);
    send(sql::insert_blockers, blockers_);
    send(sql::insert_events, events_);
    send(sql::insert_lines, lines_);
    send(sql::insert_requests, new_requests_);
    send(sql::put_requests, requests_);
    send(sql::insert_entities, entities_);
    send(sql::update_entities, changed_entities_);
    send(sql::insert_entity_events, entity_events_);
    touched_.clear();
    touched_entities_.clear();
}

}  // namespace sluice::postgres
