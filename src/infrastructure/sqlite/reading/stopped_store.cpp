#include "infrastructure/sqlite/reading/stopped_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "infrastructure/sql/job_rows.hpp"
#include "infrastructure/sqlite/database/migrations.hpp"
#include "infrastructure/sqlite/database/queries.hpp"
#include "infrastructure/sqlite/reading/limit_queries.hpp"

namespace sluice::sqlite {
namespace {

Connection open_current(const std::filesystem::path& path) {
    Connection connection = open_reader(path);
    for (const MigrationStatus& step : migration_status(connection.get(), embedded_migrations())) {
        if (step.matches && step.applied_at) continue;
        throw std::runtime_error(
            fmt::format("{} is of another version; sluice migrate up --store sqlite:{} brings an "
                        "earlier one up to date",
                        path.string(), path.string()));
    }
    return connection;
}

template <class Stored, class Table>
std::vector<Stored> all_rows(sqlite3* connection, std::string_view sql, const Table& table) {
    Statement list(connection, sql);
    std::vector<Stored> all;
    while (list.next_row()) {
        Row row(list);
        rows::read_row(row, table, std::tie(all.emplace_back()));
    }
    return all;
}

}  // namespace

StoppedStore::StoppedStore(const std::filesystem::path& path)
    : lock_(std::filesystem::absolute(path)),
      connection_(open_current(std::filesystem::absolute(path))),
      reader_(std::filesystem::absolute(path)),
      list_requests_(connection_.get(), sql::list_requests) {}

std::vector<IdempotentRequest> StoppedStore::requests_after(const IdempotencyKey& last, int limit) {
    std::vector<IdempotentRequest> requests;
    list_requests_.with(last.tenant, last.key, std::max(limit, 0));
    while (list_requests_.next_row()) {
        Row row(list_requests_);
        requests.push_back(read_request(row));
    }
    list_requests_.rewind();
    return requests;
}

std::vector<StoredMeter> StoppedStore::meters() {
    return stored_meters(connection_.get());
}

std::vector<StoredSource> StoppedStore::sources() {
    return all_rows<StoredSource>(connection_.get(), sql::list_sources, tables::source_table);
}

std::vector<StoredSourceHour> StoppedStore::source_hours() {
    return all_rows<StoredSourceHour>(connection_.get(), sql::list_source_hours,
                                      tables::source_hour_table);
}

std::int64_t StoppedStore::last_id() {
    Statement read(connection_.get(), sql::read_mark);
    read.with(std::string_view("last_id"));
    return read.next_row() ? read.integer(0) : 0;
}

}  // namespace sluice::sqlite
