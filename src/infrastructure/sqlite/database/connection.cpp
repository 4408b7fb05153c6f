#include "infrastructure/sqlite/database/connection.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <system_error>

#include "application/ports/store.hpp"
#include "infrastructure/sqlite/database/queries.hpp"
#include "infrastructure/sqlite/database/statement.hpp"

namespace sluice::sqlite {
namespace {

struct Setting {
    const char* name;
    const char* value;
    const char* reads_back_as;
};

// WAL with synchronous=FULL is what makes a commit survive a power cut: the log is flushed by each
// one. SQLite's own automatic checkpoint is off, because it drops its errors, a failed fsync among
// them; the store checkpoints itself. The cache is small on purpose: the hot path touches the
// newest pages only, and the kernel keeps the others. Debian's SQLite overwrites deleted content
// unless told otherwise.
constexpr auto writer_settings = std::to_array<Setting>({
    {"journal_mode", "WAL", "wal"},
    {"synchronous", "FULL", "2"},
    {"wal_autocheckpoint", "0", "0"},
    {"journal_size_limit", "67108864", "67108864"},
    {"temp_store", "MEMORY", "2"},
    {"cache_size", "-32768", "-32768"},
    {"foreign_keys", "OFF", "0"},
    {"secure_delete", "OFF", "0"},
});

constexpr auto reader_settings = std::to_array<Setting>({
    {"query_only", "1", "1"},
    {"wal_autocheckpoint", "0", "0"},
    {"temp_store", "MEMORY", "2"},
    {"cache_size", "-4096", "-4096"},
});

std::string read_setting(sqlite3* connection, const char* name) {
    Statement query(connection, fmt::format("PRAGMA {}", name));
    return query.next_row() ? std::string(query.text(0)) : "";
}

void set(sqlite3* connection, const Setting& setting, const std::string& path) {
    // Some of these return a row and some do not; the value that is read back counts.
    const std::string sql = fmt::format("PRAGMA {} = {}", setting.name, setting.value);
    const int code = sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr);
    if (code == SQLITE_NOTADB) {
        throw std::runtime_error(fmt::format("{} is no store: it is not an SQLite file", path));
    }
    if (code != SQLITE_OK) fail(connection, code, sql);
}

// Before the first setting, which would change the file. The settings refuse one that cannot be
// read.
void refuse_foreign_tables(sqlite3* connection, const std::string& path) {
    const auto stop = [](void*, int, char**, char**) { return 1; };
    const int code = sqlite3_exec(connection, sql::find_foreign_table, stop, nullptr, nullptr);
    if (code != SQLITE_ABORT) return;
    throw std::runtime_error(fmt::format(
        "{} is no store: it is a database of another program; choose another --store", path));
}

void apply(sqlite3* connection, std::span<const Setting> settings, const std::string& path) {
    refuse_foreign_tables(connection, path);
    for (const Setting& setting : settings) {
        set(connection, setting, path);
        const std::string now = read_setting(connection, setting.name);
        if (now == setting.reads_back_as) continue;
        throw std::runtime_error(
            fmt::format("{}: SQLite does not honour {} = {} here (it says \"{}\"); the store would "
                        "not be safe on this file",
                        path, setting.name, setting.value, now));
    }
}

void forbid_checkpoint_on_close(sqlite3* connection) {
    int set_to = 0;
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, &set_to);
    if (set_to != 1) throw std::runtime_error("SQLite does not know NO_CKPT_ON_CLOSE");
}

Connection open(const std::filesystem::path& path, int flags) {
    // Counting every allocation takes a global lock. Has no effect when SQLite is in use already,
    // which only costs speed.
    static std::once_flag configured;
    std::call_once(configured, [] { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); });

    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &raw,
                                     flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    Connection connection(raw);
    if (code != SQLITE_OK) {
        throw StoreUnavailable(fmt::format("cannot open {}: {}", path.string(),
                                           raw ? sqlite3_errmsg(raw) : sqlite3_errstr(code)));
    }
    sqlite3_busy_timeout(raw, 5000);
    forbid_checkpoint_on_close(raw);
    return connection;
}

std::runtime_error system_error(const std::string& what, const std::filesystem::path& path) {
    return std::runtime_error(fmt::format("{} {}: {}", what, path.string(), std::strerror(errno)));
}

void flush_folder(const std::filesystem::path& folder) {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) throw system_error("cannot open", folder);
    const int code = ::fsync(file);
    ::close(file);
    if (code != 0) throw system_error("cannot flush", folder);
}

}  // namespace

void Close::operator()(sqlite3* connection) const {
    sqlite3_close_v2(connection);
}

Connection open_writer(const std::filesystem::path& path, int pages_max) {
    Connection connection = open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    apply(connection.get(), writer_settings, path.string());
    if (pages_max > 0) {
        execute(connection.get(), fmt::format("PRAGMA max_page_count = {}", pages_max).c_str());
    }
    return connection;
}

Connection open_reader(const std::filesystem::path& path) {
    Connection connection = open(path, SQLITE_OPEN_READONLY);
    apply(connection.get(), reader_settings, path.string());
    return connection;
}

OwnerLock::OwnerLock(const std::filesystem::path& path) {
    const std::filesystem::path lock_path = path.string() + ".lock";
    file_ = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) throw system_error("cannot open", lock_path);
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;

    const bool is_held = errno == EWOULDBLOCK;
    const auto error = system_error("cannot lock", lock_path);
    ::close(file_);
    if (!is_held) throw error;
    throw StoreInUse(
        fmt::format("{} is in use by another process; one process owns a store (lock: {}): use "
                    "that engine (--server), stop it, or choose another --store",
                    path.string(), lock_path.string()));
}

OwnerLock::~OwnerLock() {
    ::close(file_);
}

void create_folder_of(const std::filesystem::path& path) {
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    if (std::filesystem::is_directory(folder)) return;

    std::filesystem::path existing = folder;
    while (!std::filesystem::exists(existing)) existing = existing.parent_path();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
        throw std::runtime_error(
            fmt::format("cannot create the folder {} for the store {}: {}; create it, or choose "
                        "another path for the store",
                        folder.string(), path.string(), error.message()));
    }
    for (std::filesystem::path made = folder; made != existing; made = made.parent_path()) {
        flush_folder(made.parent_path());
    }
}

}  // namespace sluice::sqlite
