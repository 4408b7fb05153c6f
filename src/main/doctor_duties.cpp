#include "main/doctor_duties.hpp"

#include <fmt/format.h>

#include "application/duties.hpp"
#include "infrastructure/postgres/backlog.hpp"
#include "infrastructure/postgres/clock_row.hpp"
#include "infrastructure/sqlite/backlog.hpp"
#include "infrastructure/system_clock.hpp"
#include "main/config_store_url.hpp"
#include "main/open_store.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

// What is due for longer than this, a running engine would have dealt with.
constexpr Duration grace = 1min;

DutyBacklog backlog_of(const Config& config) {
    BacklogQuestion question{.idempotency_memory = config.idempotency_memory,
                             .retention = retention_of(config)};
    if (is_postgres(config.store)) {
        postgres::Connection connection({.url = config.store, .schema = config.store_schema});
        question.now = postgres::server_now(connection) + postgres::read_ahead(connection) - grace;
        return postgres::look_at_backlog(connection, question);
    }
    question.now = SystemClock().now() - grace;
    return sqlite::look_at_backlog(config.store.substr(sqlite_scheme.size()), question);
}

void tell(Findings& out, DutyName duty, std::int64_t overdue, std::string_view of_what) {
    const std::string subject = fmt::format("duty {}", duty.name);
    if (overdue == 0) return out.good(subject, fmt::format("no {} is overdue", of_what));
    out.doubtful(subject, fmt::format("{} {}s are overdue", overdue, of_what),
                 "start an engine; if one runs, look at its log and its sluice_duty_ metrics");
}

void tell_of_retention(const Config& config, const DutyBacklog& seen, Findings& out) {
    const std::string subject = fmt::format("duty {}", duty::retention.name);
    if (retention_of(config) == Retention{}) {
        return out.good(subject, "ended jobs are kept for ever");
    }
    const bool is_more = seen.old_jobs == backlog_counted;
    out.good(subject, fmt::format("{}{} jobs are past their retention, what is needed among them",
                                  is_more ? "more than " : "", seen.old_jobs));
}

void tell_of_windows(const DutyBacklog& seen, Findings& out) {
    const std::string subject = fmt::format("duty {}", duty::windows.name);
    const std::string detail = fmt::format("{} weeks to come have a window, {} past ones do",
                                           seen.next_windows, seen.old_windows);
    if (seen.next_windows > 0) return out.good(subject, detail);
    out.doubtful(subject, detail,
                 "start an engine; if one runs, look at its log: jobs of next week would wait");
}

}  // namespace

void look_at_duties(const Config& config, Findings& out) {
    try {
        if (config.store == "memory:" || !store_exists(config)) return;
        const DutyBacklog seen = backlog_of(config);
        tell(out, duty::deadlines, seen.deadlines, "deadline");
        tell(out, duty::leases, seen.leases, "lease");
        out.good(fmt::format("duty {}", duty::keys.name),
                 fmt::format("{} keys are forgotten with the next commits", seen.keys));
        tell_of_retention(config, seen, out);
        if (is_postgres(config.store)) tell_of_windows(seen, out);
    } catch (const std::runtime_error&) {
        // What is wrong with the store itself was said before.
    }
}

}  // namespace sluice
