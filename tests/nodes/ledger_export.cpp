#include "nodes/ledger_export.hpp"

#include <sqlite3.h>

#include <fstream>
#include <stdexcept>

#include "infrastructure/postgres/connection.hpp"

namespace sluice::nodes {
namespace {

constexpr const char* sqlite_rows = R"(
SELECT json_object('kind', 'row', 'row', json_object(
    'job', e.job_id, 'seq', e.seq, 'step', e.step, 'from', coalesce(e.from_state, -1),
    'to', coalesce(e.to_state, -1), 'attempt', e.attempt, 'lease', coalesce(e.lease, 0),
    'at', e.at, 'log_seq', e.log_seq, 'actor', e.actor, 'detail', coalesce(e.detail, ''),
    'result', coalesce(d.result, ''), 'hash', lower(hex(e.hash))))
FROM event e LEFT JOIN done d ON d.id = e.job_id ORDER BY e.job_id, e.seq)";

constexpr const char* postgres_rows = R"(
SELECT json_build_object('kind', 'row', 'row', json_build_object(
    'job', e.job_id, 'seq', e.seq, 'step', e.step, 'from', coalesce(e.from_state, -1),
    'to', coalesce(e.to_state, -1), 'attempt', e.attempt, 'lease', coalesce(e.lease, 0),
    'at', e.at, 'log_seq', e.log_seq, 'actor', e.actor, 'detail', coalesce(e.detail, ''),
    'result', coalesce(d.result, ''), 'hash', encode(e.hash, 'hex')))::text
FROM event e LEFT JOIN done d ON d.id = e.job_id ORDER BY e.job_id, e.seq)";

void write_sqlite_rows(const std::string& path, std::ofstream& file) {
    sqlite3* database = nullptr;
    sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
    const auto write = [](void* stream, int, char** values, char**) {
        *static_cast<std::ofstream*>(stream) << values[0] << '\n';
        return 0;
    };
    const int code = sqlite3_exec(database, sqlite_rows, write, &file, nullptr);
    const std::string error = sqlite3_errmsg(database);
    sqlite3_close(database);
    if (code != SQLITE_OK) throw std::runtime_error(path + ": " + error);
}

void write_postgres_rows(const std::string& url, std::ofstream& file) {
    postgres::Connection connection({.url = url, .application_name = "test"});
    connection.set_patience(std::chrono::minutes(1));
    const postgres::Result rows = connection.ask({"", postgres_rows});
    connection.sync();
    for (int i = 0; i < rows.rows(); ++i) file << postgres::Row(rows, i).raw() << '\n';
}

}  // namespace

void export_ledger(const std::string& store, const std::filesystem::path& history) {
    constexpr std::string_view sqlite = "sqlite:";
    std::ofstream file(history, std::ios::app);
    if (store.starts_with(sqlite)) {
        write_sqlite_rows(store.substr(sqlite.size()), file);
    } else {
        write_postgres_rows(store, file);
    }
    file.close();
    if (!file) throw std::runtime_error("cannot write " + history.string());
}

}  // namespace sluice::nodes
