#pragma once

#include "application/ports/store.hpp"
#include "infrastructure/sqlite/database/connection.hpp"
#include "infrastructure/sqlite/database/insert.hpp"
#include "infrastructure/sqlite/database/marks.hpp"
#include "infrastructure/sqlite/database/reserve.hpp"
#include "infrastructure/sqlite/store/queue_index.hpp"
#include "infrastructure/sqlite/store/sqlite_archive.hpp"
#include "infrastructure/sqlite/store/sqlite_entities.hpp"
#include "infrastructure/sqlite/store/sqlite_jobs.hpp"
#include "infrastructure/sqlite/store/sqlite_leases.hpp"
#include "infrastructure/sqlite/store/sqlite_limits.hpp"

namespace sluice::sqlite {

class SqliteHistory final : public HistoryStore {
  public:
    explicit SqliteHistory(sqlite3* connection);

    void append(std::span<const Event> events) override;
    void append(std::span<const LogLine> lines) override;

  private:
    Insert insert_event_;
    Insert insert_line_;
};

class SqliteIdempotency final : public IdempotencyStore {
  public:
    explicit SqliteIdempotency(sqlite3* connection);

    std::optional<IdempotentRequest> find(const std::string& tenant,
                                          const std::string& key) override;
    void put(const IdempotentRequest& request) override;
    int forget_before(Timestamp time, int limit) override;

  private:
    Statement find_;
    Statement put_;
    Statement forget_;
};

// The writing connection, the indexes in memory, and the ports that work on both. They are made
// once, since to prepare their statements anew for each session would cost more than many sessions.
struct Writer {
    explicit Writer(Connection opened);

    // Reads the index from the tables. `now`: the latest time that is known.
    void load(Timestamp now);

    Connection connection;
    Marks marks;
    QueueIndex index;
    JobQueries queries;
    SqliteEntities entities;
    SqliteJobs jobs;
    SqliteLeases leases;
    SqliteHistory history;
    SqliteIdempotency idempotency;
    SqliteArchive archive;
    SqliteLimits limits;
    Statement begin;
    Statement commit;
};

// One write transaction. Destroyed without commit(), it rolls the file back and leaves the index
// stale.
class SqliteSession final : public Session {
  public:
    SqliteSession(Writer& writer, Reserve& reserve);
    ~SqliteSession() override;
    SqliteSession(const SqliteSession&) = delete;
    SqliteSession& operator=(const SqliteSession&) = delete;

    JobReader& reader() override { return writer_.queries; }
    JobStore& jobs() override { return writer_.jobs; }
    LeaseStore& leases() override { return writer_.leases; }
    HistoryStore& history() override { return writer_.history; }
    IdempotencyStore& idempotency() override { return writer_.idempotency; }
    EntityStore& entities() override { return writer_.entities; }
    ArchiveStore& archive() override { return writer_.archive; }
    LimitStore& limits() override { return writer_.limits; }
    void commit() override;

  private:
    Writer& writer_;
    Reserve& reserve_;
    int changes_;  // of the connection before this session
    bool committed_ = false;
};

}  // namespace sluice::sqlite
