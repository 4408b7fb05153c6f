#include "operator/doctor_duties.hpp"

#include <fmt/format.h>

#include <vector>

#include "application/engine/duties.hpp"
#include "config/store_url.hpp"
#include "infrastructure/postgres/cluster/clock_row.hpp"
#include "infrastructure/postgres/maintenance/backlog.hpp"
#include "infrastructure/sqlite/reading/backlog.hpp"
#include "infrastructure/system/system_clock.hpp"
#include "operator/open_store.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

// A running engine would have dealt with work that is due for longer than this.
constexpr Duration grace = 1min;
// Keys go with the next commit, and there may be none for long; jobs, on PostgreSQL, with their
// week.
constexpr Duration grace_of_keys = 24h;
constexpr Duration grace_of_jobs = 8 * 24h;

// The backlog at the time `ago` before now, of the records that still exist.
DutyBacklog backlog_of(const Config& config, Duration ago) {
    BacklogQuestion question{.idempotency_memory = config.idempotency_memory,
                             .retention = retention_of(config)};
    if (is_postgres(config.store)) {
        postgres::Connection connection({.url = config.store, .schema = config.store_schema});
        question.now = postgres::server_now(connection) + postgres::read_ahead(connection) - ago;
        return postgres::look_at_backlog(connection, question);
    }
    question.now = SystemClock().now() - ago;
    return sqlite::look_at_backlog(config.store.substr(sqlite_scheme.size()), question);
}

void tell(Findings& out, DutyName duty, std::int64_t overdue, std::string_view of_what) {
    const std::string subject = fmt::format("duty {}", duty.name);
    if (overdue == 0) return out.good(subject, fmt::format("no {} is overdue", of_what));
    out.doubtful(subject, fmt::format("{} {}s are overdue", overdue, of_what),
                 "start an engine; if one runs, look at its log and its sluice_duty_ metrics");
}

void tell_of_keys(const Config& config, const DutyBacklog& seen, Findings& out) {
    const std::string subject = fmt::format("duty {}", duty::keys.name);
    const std::int64_t late = backlog_of(config, grace_of_keys).keys;
    if (late == 0) {
        return out.good(subject,
                        fmt::format("{} keys are forgotten with the next commits", seen.keys));
    }
    out.doubtful(
        subject, fmt::format("{} keys should have been forgotten a day ago", late),
        "start an engine; if one takes jobs, look at its log and its sluice_duty_ metrics");
}

// Records that are needed stay however old they are, so only a large number of them is reported.
void tell_of_retention(const Config& config, const DutyBacklog& seen, Findings& out) {
    const std::string subject = fmt::format("duty {}", duty::retention.name);
    if (retention_of(config) == Retention{}) {
        return out.good(subject, "ended jobs are kept for ever");
    }
    const bool is_more = seen.old_jobs == backlog_counted;
    const std::string detail =
        fmt::format("{}{} jobs are past their retention, what is needed among them",
                    is_more ? "more than " : "", seen.old_jobs);
    if (!is_more || backlog_of(config, grace_of_jobs).old_jobs < backlog_counted) {
        return out.good(subject, detail);
    }
    out.doubtful(subject, detail + ", most of them for more than a week",
                 "start an engine with this retention; if one runs, look at its log and its "
                 "sluice_duty_ metrics, and at what keeps them (docs/operations.md, Retention)");
}

// The store shows nothing about these duties.
void tell_of_others(bool is_shared, Findings& out) {
    std::vector<DutyName> others{duty::workers, duty::sources, duty::ended_rules, duty::streams,
                                 duty::stuck,   duty::access,  duty::seal};
    if (is_shared) {
        others.insert(others.end(), {duty::old_windows, duty::older_nodes, duty::left_behind,
                                     duty::limits, duty::vacuum, duty::elsewhere});
    }
    for (const DutyName& other : others) {
        out.good(fmt::format("duty {}", other.name),
                 fmt::format("a running engine tells when it last ran: "
                             "sluice_duty_last_run_seconds{{duty=\"{}\"}}",
                             other.name));
    }
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
        const DutyBacklog seen = backlog_of(config, grace);
        tell(out, duty::deadlines, seen.deadlines, "deadline");
        tell(out, duty::leases, seen.leases, "lease");
        tell_of_keys(config, seen, out);
        tell_of_retention(config, seen, out);
        if (is_postgres(config.store)) tell_of_windows(seen, out);
        tell_of_others(is_postgres(config.store), out);
    } catch (const std::runtime_error&) {
        // Problems of the store itself were reported before.
    }
}

}  // namespace sluice
