#include "infrastructure/sqlite/database/statement.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>

#include "application/ports/store.hpp"
#include "domain/values/check.hpp"

namespace sluice::sqlite {
namespace {

constexpr int exit_code_of_a_broken_disk = 70;

// A failed fsync must never be tried again: the kernel may have dropped the pages and would call
// the next fsync a success, and the log would then be thrown away although its pages never reached
// the disk. Only a new process, which reads the file as it really is, can go on. The same holds for
// a file that does not contain the bytes that were written to it.
[[noreturn]] void stop_the_process(std::string_view message) {
    std::fprintf(stderr, "sluice: stopping, the store can no longer be trusted: %.*s\n",
                 static_cast<int>(message.size()), message.data());
    std::_Exit(exit_code_of_a_broken_disk);
}

bool is_broken(int code) {
    // Both of these only mean that there is not enough memory or space; nothing was read or written
    // wrongly.
    if (code == SQLITE_IOERR_NOMEM || code == SQLITE_IOERR_SHMSIZE) return false;
    const int kind = code & 0xFF;
    return kind == SQLITE_IOERR || kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB;
}

// The second one: no space for the index of the log.
bool is_full(int code) {
    return (code & 0xFF) == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE;
}

bool is_bug(int code) {
    const int kind = code & 0xFF;
    return kind == SQLITE_CONSTRAINT || kind == SQLITE_MISUSE || kind == SQLITE_RANGE ||
           kind == SQLITE_MISMATCH || kind == SQLITE_ERROR;
}

}  // namespace

void fail(sqlite3* connection, int code, std::string_view doing) {
    const std::string message =
        fmt::format("{} ({}) at {}", sqlite3_errmsg(connection), code, doing);
    if (is_broken(code)) stop_the_process(message);
    if (is_bug(code)) check(false, message.c_str());
    if (is_full(code)) throw StoreFull(message);
    throw StoreUnavailable(message);
}

void execute(sqlite3* connection, const char* sql) {
    const int code = sqlite3_exec(connection, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(connection, code, sql);
}

void roll_back(sqlite3* connection) noexcept {
    if (sqlite3_get_autocommit(connection) != 0) return;  // some errors have rolled back already
    const int code = sqlite3_exec(connection, "ROLLBACK", nullptr, nullptr, nullptr);
    if (is_broken(code)) stop_the_process(sqlite3_errmsg(connection));
}

void Statement::Finalize::operator()(sqlite3_stmt* handle) const {
    sqlite3_finalize(handle);
}

Statement::Statement(sqlite3* connection, std::string_view sql) {
    sqlite3_stmt* handle = nullptr;
    const int code = sqlite3_prepare_v3(connection, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
    if (code != SQLITE_OK) fail(connection, code, sql);
    handle_.reset(handle);
}

void Statement::run() {
    const int code = sqlite3_step(handle_.get());
    if (code != SQLITE_DONE) [[unlikely]] {
        check(code != SQLITE_ROW, "a statement that was run returned a row");
        fail_with(code);
    }
}

void Statement::run_on_one_row() {
    run();
    check(changes() == 1, sqlite3_sql(handle_.get()));
}

bool Statement::next_row() {
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) [[unlikely]]
        fail_with(code);
    sqlite3_reset(handle_.get());
    return false;
}

void Statement::rewind() {
    sqlite3_reset(handle_.get());
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(handle_.get(), column);
}

std::string_view Statement::text(int column) const {
    // As a blob, since that neither converts nor adds a terminating zero.
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

int Statement::changes() const {
    return sqlite3_changes(sqlite3_db_handle(handle_.get()));
}

void Statement::bind_null(int index) {
    require(sqlite3_bind_null(handle_.get(), index));
}

void Statement::bind_integer(int index, std::int64_t value) {
    require(sqlite3_bind_int64(handle_.get(), index, value));
}

// A null pointer would be bound as NULL; an empty text is not that.
void Statement::bind_text(int index, std::string_view value) {
    const char* data = value.data() ? value.data() : "";
    require(
        sqlite3_bind_text64(handle_.get(), index, data, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind_made(int index, const std::string& value) {
    require(sqlite3_bind_text64(handle_.get(), index, value.data(), value.size(), SQLITE_TRANSIENT,
                                SQLITE_UTF8));
}

void Statement::bind_blob(int index, std::string_view value) {
    require(sqlite3_bind_blob64(handle_.get(), index, value.data(), value.size(), SQLITE_STATIC));
}

void Statement::check_count(std::size_t values) const {
    const auto placeholders = static_cast<std::size_t>(sqlite3_bind_parameter_count(handle_.get()));
    check(values == placeholders, sqlite3_sql(handle_.get()));
}

void Statement::fail_with(int code) const {
    sqlite3* connection = sqlite3_db_handle(handle_.get());
    fail(connection, code, sqlite3_sql(handle_.get()));
}

void Statement::require(int code) const {
    if (code != SQLITE_OK) [[unlikely]]
        fail_with(code);
}

}  // namespace sluice::sqlite
