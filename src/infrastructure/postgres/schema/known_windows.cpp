#include "infrastructure/postgres/schema/known_windows.hpp"

#include "infrastructure/postgres/schema/windows.hpp"

namespace sluice::postgres {
namespace {

constexpr Query list_windows{"list_windows", R"sql(
SELECT substr(c.relname, 5)::int8, pg_get_expr(c.relpartbound, c.oid) LIKE '%MINVALUE%'
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = to_regclass('job'))sql"};

}  // namespace

void KnownWindows::load(Connection& connection) {
    const Result windows = connection.ask(list_windows);
    const std::lock_guard lock(mutex_);
    weeks_.clear();
    open_until_ = -1;
    for (int i = 0; i < windows.rows(); ++i) {
        Row row(windows, i);
        const std::int64_t week = row.integer();
        weeks_.insert(week);
        if (row.flag()) open_until_ = week;
    }
}

bool KnownWindows::has(JobId id) {
    const std::int64_t week = window_of(id);
    const std::lock_guard lock(mutex_);
    if (week <= open_until_ || weeks_.contains(week)) return true;
    missing_ = id;
    return false;
}

void KnownWindows::add_missing(Connection& connection) {
    std::optional<JobId> missing;
    {
        const std::lock_guard lock(mutex_);
        missing = std::exchange(missing_, std::nullopt);
    }
    if (!missing) return;
    ensure_window_for(connection, *missing);
    load(connection);
    connection.sync();
}

}  // namespace sluice::postgres
