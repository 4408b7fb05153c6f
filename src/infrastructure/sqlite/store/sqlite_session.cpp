#include "infrastructure/sqlite/store/sqlite_session.hpp"

#include <sqlite3.h>

#include "domain/values/check.hpp"
#include "infrastructure/sqlite/database/bindings.hpp"
#include "infrastructure/sqlite/database/queries.hpp"

namespace sluice::sqlite {

// ── history ──

SqliteHistory::SqliteHistory(sqlite3* connection)
    : insert_event_(connection, sql::insert_event), insert_line_(connection, sql::insert_line) {}

void SqliteHistory::append(std::span<const Event> events) {
    insert_event_.run(events, bind_event);
}

void SqliteHistory::append(std::span<const LogLine> lines) {
    insert_line_.run(lines, bind_line);
}

// ── idempotency keys ──

SqliteIdempotency::SqliteIdempotency(sqlite3* connection)
    : find_(connection, sql::find_request),
      put_(connection, sql::put_request),
      forget_(connection, sql::forget_requests) {}

std::optional<IdempotentRequest> SqliteIdempotency::find(const std::string& tenant,
                                                         const std::string& key) {
    if (!find_.with(tenant, key).next_row()) return std::nullopt;

    Row row(find_);
    IdempotentRequest request = read_request(row);
    find_.rewind();
    return request;
}

void SqliteIdempotency::put(const IdempotentRequest& request) {
    put_request(put_, request);
}

int SqliteIdempotency::forget_before(Timestamp time, int limit) {
    forget_.with(time, std::max(limit, 0)).run();
    return forget_.changes();
}

// ── the transaction ──

Writer::Writer(Connection opened)
    : connection(std::move(opened)),
      marks(connection.get()),
      queries(connection.get(), Moments::of_transaction, std::make_unique<IndexLimits>(index)),
      entities(connection.get(), queries.entities(), marks),
      jobs(connection.get(), queries, index, marks),
      leases(connection.get(), queries, index, marks),
      history(connection.get()),
      idempotency(connection.get()),
      archive(connection.get()),
      limits(connection.get(), queries.entities(), index),
      begin(connection.get(), "BEGIN IMMEDIATE"),
      commit(connection.get(), "COMMIT") {}

void Writer::load(Timestamp now) {
    index.load(connection.get(), marks.low_water(), limits.stored_rules(), now);
    limits.loaded();
}

SqliteSession::SqliteSession(Writer& writer, Reserve& reserve)
    : writer_(writer), reserve_(reserve), changes_(sqlite3_total_changes(writer.connection.get())) {
    writer_.begin.with().run();
}

SqliteSession::~SqliteSession() {
    if (committed_) return;
    roll_back(writer_.connection.get());
    writer_.index.rolled_back();
}

void SqliteSession::commit() {
    check(!committed_, "a session is committed once");
    writer_.marks.write();
    writer_.limits.write();
    writer_.commit.with().run();
    committed_ = true;
    if (sqlite3_total_changes(writer_.connection.get()) != changes_) reserve_.fitted();
    writer_.marks.committed();
    writer_.index.committed();
    writer_.limits.committed();
}

}  // namespace sluice::sqlite
