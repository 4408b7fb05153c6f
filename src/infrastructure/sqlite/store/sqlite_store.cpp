#include "infrastructure/sqlite/store/sqlite_store.hpp"

#include <sqlite3.h>

#include "infrastructure/sqlite/database/migrations.hpp"
#include "infrastructure/sqlite/database/queries.hpp"
#include "infrastructure/sqlite/reading/sqlite_reader.hpp"
#include "infrastructure/sqlite/store/sqlite_session.hpp"

// The start: lock the file, open it with settings that are verified, migrate it, renew its leases,
// and load the index. From then on each session begins with overdue work: a checkpoint when the log
// has grown, and the index when a rollback left it stale.
namespace sluice {
namespace {

using namespace sqlite;

constexpr int checkpoint_pages = 4000;
// Where the disk has little space left, the log must not take it all: once it has, there is none
// for the checkpoint that would let it be used again.
constexpr int checkpoint_pages_when_short = 256;
constexpr std::uintmax_t low_space_bytes = 64 * 1024 * 1024;  // bytes

bool is_space_short(const std::filesystem::path& path) {
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(path, error);
    return !error && space.available < low_space_bytes;
}

// A later checkpoint does the rest when readers block it or the disk is full.
void checkpoint(sqlite3* connection, int mode) {
    const int code = sqlite3_wal_checkpoint_v2(connection, nullptr, mode, nullptr, nullptr);
    const int kind = code & 0xFF;
    if (kind == SQLITE_OK || kind == SQLITE_BUSY || kind == SQLITE_FULL) return;
    fail(connection, code, "checkpoint");
}

// Absolute, so that SQLite does not take a name that starts with "file:" or ":" for something else.
std::filesystem::path with_folder(const std::filesystem::path& path) {
    create_folder_of(path);
    return std::filesystem::absolute(path);
}

std::unique_ptr<Writer> open_and_migrate(const std::filesystem::path& path, int pages_max,
                                         Timestamp now) {
    Connection connection = open_writer(path, pages_max);
    migrate(connection.get(), embedded_migrations(), now);
    Statement(connection.get(), sql::renew_leases).with(now).run();
    Statement(connection.get(), sql::delete_rested_meters).with(to_micros(now) * 1000).run();
    return std::make_unique<Writer>(std::move(connection));
}

// An engine that starts on a full disk has the reserve to end running jobs.
std::unique_ptr<Writer> open_with(Reserve& reserve, const std::filesystem::path& path,
                                  int pages_max, Timestamp now) {
    try {
        return open_and_migrate(path, pages_max, now);
    } catch (const StoreFull&) {
        if (!reserve.give_up()) throw;
    }
    return open_and_migrate(path, pages_max, now);
}

}  // namespace

SqliteStore::SqliteStore(const std::filesystem::path& path, Timestamp now, const Limits& limits)
    : path_(with_folder(path)),
      lock_(path_),
      reserve_(path_, limits.reserve_bytes),
      writer_(open_with(reserve_, path_, limits.pages_max, now)) {
    const auto count_pages = [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
    };
    sqlite3_wal_hook(writer_->connection.get(), count_pages, &log_pages_);
    writer_->load(now);
}

SqliteStore::~SqliteStore() {
    try {
        close();
    } catch (const StoreUnavailable&) {
        // The writes of close() only make the next start quicker.
    }
}

void SqliteStore::close() {
    sqlite3* connection = writer_->connection.get();
    execute(connection, "BEGIN IMMEDIATE");
    writer_->marks.write_exactly();
    execute(connection, "COMMIT");
    checkpoint(connection, SQLITE_CHECKPOINT_TRUNCATE);
}

// A checkpoint is due after a commit, but runs before the next one: so only later commands wait for
// it.
std::unique_ptr<Session> SqliteStore::begin() {
    sqlite3* connection = writer_->connection.get();
    reserve_.take_back_if_possible();
    if (log_pages_ >= checkpoint_pages ||
        (log_pages_ >= checkpoint_pages_when_short && is_space_short(path_))) {
        log_pages_ = 0;
        checkpoint(connection, SQLITE_CHECKPOINT_PASSIVE);
    }
    if (writer_->index.is_stale()) {
        writer_->marks.reload();
        writer_->load(writer_->index.seen());
    }
    return std::make_unique<SqliteSession>(*writer_, reserve_);
}

std::unique_ptr<JobReader> SqliteStore::reader() {
    return std::make_unique<SqliteReader>(path_,
                                          std::make_unique<BoardReader>(writer_->limits.board()));
}

std::int64_t SqliteStore::last_id() {
    return writer_->marks.last_id();
}

}  // namespace sluice
