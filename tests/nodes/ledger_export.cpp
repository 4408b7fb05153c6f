#include "nodes/ledger_export.hpp"

#include <sqlite3.h>

#include <fstream>
#include <stdexcept>

#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::nodes {
namespace {

constexpr const char* sqlite_rows = R"(
SELECT json_object('kind', 'row', 'row', json_object(
    'job', e.job_id, 'seq', e.seq, 'step', e.step, 'from', coalesce(e.from_state, -1),
    'to', coalesce(e.to_state, -1), 'attempt', e.attempt, 'lease', coalesce(e.lease, 0),
    'at', e.at, 'log_seq', e.log_seq, 'actor', e.actor, 'detail', coalesce(e.detail, ''),
    'result', coalesce(d.result, ''), 'hash', lower(hex(e.hash)),
    'form', coalesce(j.history_form, 1),
    'lines', json((SELECT json_group_array(json_array(l.seq, l.attempt, l.level, l.at, l.event_seq,
        l.message, coalesce(l.data, '')))
        FROM (SELECT * FROM log WHERE job_id = e.job_id AND seq <= e.log_seq ORDER BY seq) l))))
FROM event e JOIN job j ON j.id = e.job_id LEFT JOIN done d ON d.id = e.job_id
ORDER BY e.job_id, e.seq)";

constexpr const char* sqlite_entity_rows = R"(
SELECT json_object('kind', 'entity_row', 'row', json_object(
    'tenant', e.tenant, 'kind', e.kind, 'id', e.id, 'seq', coalesce(v.seq, 0), 'at', v.at,
    'action', v.action, 'from', v.from_state, 'to', v.to_state, 'actor', v.actor,
    'job', coalesce(v.job, 0), 'detail', coalesce(v.detail, ''), 'hash', lower(hex(v.hash)),
    'number', e.number, 'created_at', e.created_at, 'head', lower(hex(e.head_hash)),
    'revision', e.revision, 'state', e.state, 'parent', coalesce(e.parent, ''),
    'updated_at', e.updated_at, 'attributes', e.attributes, 'seal', lower(hex(e.seal))))
FROM entity e LEFT JOIN entity_event v ON e.tenant = v.tenant AND e.kind = v.kind AND e.id = v.id
ORDER BY e.tenant, e.kind, e.id, v.seq)";

constexpr const char* postgres_rows = R"(
SELECT json_build_object('kind', 'row', 'row', json_build_object(
    'job', e.job_id, 'seq', e.seq, 'step', e.step, 'from', coalesce(e.from_state, -1),
    'to', coalesce(e.to_state, -1), 'attempt', e.attempt, 'lease', coalesce(e.lease, 0),
    'at', e.at, 'log_seq', e.log_seq, 'actor', e.actor, 'detail', coalesce(e.detail, ''),
    'result', coalesce(d.result, ''), 'hash', encode(e.hash, 'hex'),
    'form', coalesce(j.history_form, 1),
    'lines', coalesce((SELECT json_agg(json_build_array(l.seq, l.attempt, l.level, l.at,
        l.event_seq, l.message, coalesce(l.data, '')) ORDER BY l.seq)
        FROM log l WHERE l.job_id = e.job_id AND l.seq <= e.log_seq), '[]')))::text
FROM event e JOIN job j ON j.id = e.job_id LEFT JOIN done d ON d.id = e.job_id
ORDER BY e.job_id, e.seq)";

constexpr const char* postgres_entity_rows = R"(
SELECT json_build_object('kind', 'entity_row', 'row', json_build_object(
    'tenant', e.tenant, 'kind', e.kind, 'id', e.id, 'seq', coalesce(v.seq, 0), 'at', v.at,
    'action', v.action, 'from', v.from_state, 'to', v.to_state, 'actor', v.actor,
    'job', coalesce(v.job, 0), 'detail', coalesce(v.detail, ''), 'hash', encode(v.hash, 'hex'),
    'number', e.number, 'created_at', e.created_at, 'head', encode(e.head_hash, 'hex'),
    'revision', e.revision, 'state', e.state, 'parent', coalesce(e.parent, ''),
    'updated_at', e.updated_at, 'attributes', e.attributes, 'seal', encode(e.seal, 'hex')))::text
FROM entity e LEFT JOIN entity_event v ON e.tenant = v.tenant AND e.kind = v.kind AND e.id = v.id
ORDER BY e.tenant, e.kind, e.id, v.seq)";

void write_sqlite_rows(const std::string& path, std::ofstream& file) {
    sqlite3* database = nullptr;
    sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
    const auto write = [](void* stream, int, char** values, char**) {
        *static_cast<std::ofstream*>(stream) << values[0] << '\n';
        return 0;
    };
    int code = SQLITE_OK;
    for (const char* rows : {sqlite_rows, sqlite_entity_rows}) {
        if (code == SQLITE_OK) code = sqlite3_exec(database, rows, write, &file, nullptr);
    }
    const std::string error = sqlite3_errmsg(database);
    sqlite3_close(database);
    if (code != SQLITE_OK) throw std::runtime_error(path + ": " + error);
}

void write_postgres_rows(const std::string& url, std::ofstream& file) {
    postgres::Connection connection({.url = url, .application_name = "test"});
    connection.set_patience(std::chrono::minutes(1));
    for (const char* query : {postgres_rows, postgres_entity_rows}) {
        const postgres::Result rows = connection.ask({"", query});
        connection.sync();
        for (int i = 0; i < rows.rows(); ++i) file << postgres::Row(rows, i).raw() << '\n';
    }
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
