#include "infrastructure/postgres/writes.hpp"

#include <algorithm>

#include "domain/check.hpp"
#include "infrastructure/entity_rows.hpp"
#include "infrastructure/job_rows.hpp"
#include "infrastructure/postgres/write_queries.hpp"

namespace sluice::postgres {
namespace {

auto into(Columns& columns) {
    return [&columns](const auto&... values) { columns.add(values...); };
}

void add_request(Columns& columns, const IdempotentRequest& request) {
    columns.add(request.tenant, request.key, request.at, request.body_digest,
                join_ids(request.jobs));
}

// An array of places in a table, in binary: its elements are six bytes each.
std::string tid_array(const std::vector<std::string>& places) {
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
    put(static_cast<std::uint32_t>(places.size()));
    put(1);  // counted from one
    for (const std::string& place : places) {
        put(static_cast<std::uint32_t>(place.size()));
        bytes += place;
    }
    return bytes;
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
    const std::string dependencies = join_ids(job.spec->depends_on);
    write_job(into(jobs_), job, JobTexts(job.spec), given(dependencies));
}

void Writes::insert_lane(LaneId id, const Lane& lane) {
    const std::string labels = join_texts(lane.labels);
    lanes_.add(id, lane.tenant, lane.queue, lane.type, given(labels));
}

void Writes::insert_ready(LaneId lane, const JobSpec& spec) {
    const std::string keys = keys_text(spec);
    ready_.add(lane, spec.priority, spec.id, given(keys));
}

void Writes::insert_timed(LaneId lane, const Job& job) {
    const std::string keys = keys_text(job.spec);
    timed_.add(job.now.run_after, job.spec->id, lane, job.spec->priority, given(keys));
}

void Writes::insert_blockers(LaneId lane, const JobSpec& spec) {
    int nth = 0;
    for (const JobId dependency : spec.depends_on) {
        blockers_.add(dependency, spec.id, lane, nth++);
    }
}

void Writes::delete_blockers(JobId id) {
    left_blockers_.add(id);
}

void Writes::delete_taken(std::string_view place) {
    taken_.emplace_back(place);
}

void Writes::delete_queued(LaneId lane, const Job& job) {
    left_ready_.add(lane, job.spec->priority, job.spec->id);
    left_timed_.add(job.now.run_after, job.spec->id);
    if (!job.spec->depends_on.empty()) left_blockers_.add(job.spec->id);
    for (const std::string& key : held_keys(job.spec)) {
        left_parked_.add(job.spec->tenant, key, lane, job.spec->priority, job.spec->id);
    }
}

void Writes::insert_requeued(const Job& job, LeaseToken last) {
    write_requeued(into(requeued_), job, last);
}

void Writes::delete_requeued(JobId id) {
    left_requeued_.add(id);
}

void Writes::insert_done(const Job& job) {
    write_done(into(done_), job);
}

void Writes::update_done(const Job& job) {
    write_done(into(changed_done_), job);
}

void Writes::insert_lease(const Job& job) {
    largest_ = std::max(largest_, job.lease->token.value);
    write_lease(into(leases_), job, watched_deadline(job), false);
}

void Writes::update_lease(const Job& job) {
    write_lease(into(changed_leases_), job, watched_deadline(job), is_final(job.now.state));
}

void Writes::delete_lease(JobId id) {
    left_leases_.add(id);
}

void Writes::insert_event(const Event& event) {
    write_event(into(events_), event);
}

void Writes::insert_line(const LogLine& line) {
    write_line(into(lines_), line);
}

void Writes::insert_request(const IdempotentRequest& request) {
    add_request(new_requests_, request);
}

void Writes::put_request(const IdempotentRequest& request) {
    add_request(requests_, request);
}

void Writes::touch(const EntityKey& key) {
    if (touched_entities_.contains(key)) flush();
    touched_entities_.insert(key);
}

void Writes::insert_entity(const Entity& entity) {
    touch(entity.key);
    largest_ = std::max(largest_, entity.number);
    write_entity(into(entities_), entity, to_json(entity.attributes));
}

void Writes::update_entity(const Entity& entity) {
    touch(entity.key);
    write_entity(into(changed_entities_), entity, to_json(entity.attributes));
}

void Writes::insert_entity_event(const EntityEvent& event) {
    write_entity_event(into(entity_events_), event);
}

void Writes::send(const Query& query, Columns& rows) {
    if (rows.empty()) return;
    connection_.send(query, Params(rows));
    rows.clear();
    has_written_ = true;
}

void Writes::flush() {
    send(sql::insert_lanes, lanes_);
    send(sql::insert_jobs, jobs_);
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
