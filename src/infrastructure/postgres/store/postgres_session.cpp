#include "infrastructure/postgres/store/postgres_session.hpp"

#include <algorithm>

#include "application/limits/stored_rules.hpp"
#include "domain/values/check.hpp"
#include "infrastructure/postgres/schema/write_queries.hpp"
#include "infrastructure/sql/job_rows.hpp"

namespace sluice::postgres {
namespace {

constexpr Millis commit_doubt_patience{2000};

}  // namespace

// ── history ──

void PostgresHistory::append(std::span<const Event> events) {
    for (const Event& event : events) work_.writes.insert_event(event);
}

void PostgresHistory::append(std::span<const LogLine> lines) {
    for (const LogLine& line : lines) work_.writes.insert_line(line);
}

// ── idempotency keys ──

void PostgresIdempotency::reserve(std::vector<IdempotencyKey> keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    TableKeys<tables::request_table> asked;
    for (const IdempotencyKey& key : keys) {
        asked.add(IdempotentRequest{.tenant = key.tenant, .key = key.key});
        known_[key] = std::nullopt;
    }
    if (asked.empty()) return;
    const Result found = work_.connection.ask(sql::lock_requests, Params(asked));
    for (int i = 0; i < found.rows(); ++i) {
        Row row(found, i);
        IdempotentRequest request = read_request(row);
        IdempotencyKey key{request.tenant, request.key};
        known_[std::move(key)] = std::move(request);
    }
}

std::optional<IdempotentRequest> PostgresIdempotency::find(const std::string& tenant,
                                                           const std::string& key) {
    const IdempotencyKey name{tenant, key};
    if (!known_.contains(name)) {
        work_.writes.flush();
        reserve({name});
    }
    return known_.at(name);
}

// A request that was looked for and not found is inserted, which fails when another session was
// faster.
void PostgresIdempotency::put(const IdempotentRequest& request) {
    const IdempotencyKey name{request.tenant, request.key};
    if (pending_.contains(name)) {
        work_.writes.flush();
        pending_.clear();
    }
    const auto known = known_.find(name);
    if (known != known_.end() && !known->second) {
        work_.writes.insert_request(request);
    } else {
        work_.writes.put_request(request);
    }
    pending_[name] = true;
    known_[name] = request;
}

int PostgresIdempotency::forget_before(Timestamp time, int limit) {
    work_.writes.flush();
    known_.clear();
    const Result gone =
        work_.connection.ask(sql::forget_requests, Params(time, std::max(limit, 0)));
    if (gone.affected() > 0) work_.writes.note_written();
    return gone.affected();
}

// ── the transaction ──

PostgresSession::PostgresSession(Writer& writer, Cluster& cluster)
    : writer_(writer),
      work_(*writer.connection, cluster, writer.seat.number, writer.readied, writer.seen),
      reader_(work_.connection, &work_.writes),
      entities_(work_),
      jobs_(work_),
      leases_(work_),
      history_(work_),
      idempotency_(work_),
      archive_(work_),
      limits_(work_, reader_, writer.seat.number) {
    work_.connection.begin();
}

PostgresSession::~PostgresSession() {
    if (!is_over_ && writer_.connection) writer_.connection->roll_back();
    if (writer_.connection && writer_.connection->fell_silent()) writer_.outage.try_failed();
}

void PostgresSession::reserve(const Subjects& subjects) {
    jobs_.reserve(subjects);
    idempotency_.reserve(subjects.keys);
    std::vector<EntityKey> entities = subjects.entities;
    for (const JobId id : subjects.ending) {
        const Job* job = work_.at_hand(id);
        if (job && !is_final(job->now.state)) subjects.entities_of(job->spec, entities);
    }
    // While this session has locked the control entity of the rules, no other session changes them:
    // what is read from here on stays the newest.
    const bool changes_rules =
        std::find(entities.begin(), entities.end(), control_key()) != entities.end();
    if (changes_rules) work_.cluster.limits.may_be_old();
    entities_.reserve(std::move(entities));
    // A change of the rules locks the meters that it counts anew, and no others.
    if (!changes_rules) {
        work_.permits.lock_passed_over(std::max(work_.seen, work_.cluster.time.now()));
    }
    work_.permits.subjects_are_reserved();
}

void PostgresSession::commit() {
    check(!is_over_, "a session is committed once");
    work_.settle_keys();
    work_.writes.flush();
    work_.permits.flush();
    if (work_.writes.has_written()) {
        send_signature();
        commit_signed();
    } else {
        work_.connection.commit();
    }
    is_over_ = true;
    writer_.outage.is_over();
    writer_.readied = std::move(work_.readied);
    writer_.seen = work_.seen;
    work_.lanes_committed();
    work_.cluster.recent.keep(work_.submitted);
    leases_.committed();
    limits_.committed();
    for (const auto& [lane, count] : work_.permits.committed(work_.seen)) {
        if (std::optional<Lane> known = work_.cluster.lanes.find(lane)) {
            reopened_.push_back({*std::move(known), count});
        }
    }
}

void PostgresSession::send_signature() {
    const std::int64_t largest = std::max(writer_.seat.last_id, work_.writes.largest_number());
    work_.connection.send(
        sql::sign, Params(writer_.seat.number, work_.cluster.owner, writer_.commits + 1, largest,
                          work_.cluster.time.now(), work_.permits.rules()->version()));
    writer_.seat.last_id = largest;
}

// When the connection breaks before the answer comes, the seat tells whether the commit happened.
void PostgresSession::commit_signed() {
    writer_.is_in_doubt = true;
    try {
        work_.connection.commit();
        ++writer_.commits;
        writer_.is_in_doubt = false;
        return;
    } catch (const Refused& refused) {
        if (refused.sqlstate() == sql::seat_is_taken) stop_without_seat(refused.what());
        if (refused.sqlstate() != sql::rules_are_old) throw;
        writer_.is_in_doubt = false;
        work_.cluster.limits.may_be_old();
        throw StoreConflict("the rules about what may run have changed meanwhile");
    } catch (const StoreUnavailable&) {
        if (!writer_.connection->is_lost()) {
            writer_.is_in_doubt = false;  // a conflict has ended the transaction
            throw;
        }
    }
    is_over_ = true;
    const bool was_silent = writer_.connection->fell_silent();
    if (settle_doubt(writer_, work_.cluster.owner, commit_doubt_patience)) return;
    if (was_silent) {
        writer_.outage.try_failed();
        throw StoreUnavailable("the server was silent for too long before the commit");
    }
    throw StoreConflict("the connection broke before the commit");
}

}  // namespace sluice::postgres
