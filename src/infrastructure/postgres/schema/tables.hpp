#pragma once

#include "domain/limits/limit_rules.hpp"
#include "infrastructure/postgres/schema/lanes.hpp"
#include "infrastructure/sql/entity_rows.hpp"
#include "infrastructure/sql/job_rows.hpp"
#include "infrastructure/sql/limit_rows.hpp"
#include "infrastructure/sql/request_rows.hpp"

// The tables as this store has them: those of all stores, and its own.
namespace sluice::postgres::tables {

using rows::done_table;
using rows::entity_event_table;
using rows::entity_table;
using rows::event_table;
using rows::log_table;
using rows::request_table;

// ── columns that only this store has ──

inline constexpr auto job_table = rows::extended(
    rows::job_table, rows::column<rows::NullIfEmpty<rows::Ids<&JobSpec::depends_on>>>(
                         "depends_on", rows::ColumnType::text));

// The token of the last lease of a job that waits again. Read beside the job, by claims.
struct LastLease {
    LeaseToken token;
};
inline constexpr auto requeued_table = rows::extended(
    rows::requeued_table, rows::written_only(rows::integer<&LastLease::token>("token")));

// A row of lease is made from the parts of all stores, and from the Job as a whole.
struct WatchedDeadline {
    template <class Parts>
    static std::optional<Timestamp> write(const Parts& parts) {
        return watched_deadline(rows::part<Job>(parts));
    }
};
struct HasEnded {
    template <class Parts>
    static bool write(const Parts& parts) {
        return is_final(rows::part<Standing>(parts).state);
    }
};
// The lane of the job, so that leases are counted by it without a look at their jobs.
struct LeasedLane {
    LaneId id = 0;
};
inline constexpr auto lease_table = rows::extended(
    rows::lease_table, rows::written_only(rows::integer<&LeasedLane::id>("lane")),
    rows::written_only(
        rows::changing(rows::column<WatchedDeadline>("deadline", rows::ColumnType::integer))),
    rows::written_only(
        rows::changing(rows::column<HasEnded>("has_ended", rows::ColumnType::flag))));

// ── the queue ──

struct LaneRow {
    LaneId id = 0;
    Lane lane;
};
inline constexpr auto lane_table =
    rows::table("lane", rows::key(rows::integer<&LaneRow::id>("id")),
                rows::text<&LaneRow::lane, &Lane::tenant>("tenant"),
                rows::text<&LaneRow::lane, &Lane::queue>("queue"),
                rows::text<&LaneRow::lane, &Lane::type>("type"),
                rows::column<rows::NullIfEmpty<rows::Texts<&LaneRow::lane, &Lane::labels>>>(
                    "labels", rows::ColumnType::text),
                rows::given_text<&LaneRow::lane, &Lane::source>("source"));

// The row of a waiting job in ready, timed or parked.
struct QueueRow {
    LaneId lane = 0;
    int priority = 0;
    JobId id{};
    std::string_view keys{};  // that it holds while it runs
    Timestamp run_after{};    // of a timed job
    // Of a parked job: the key that it waits for, and its tenant.
    std::string_view tenant{};
    std::string_view key{};
};
// clang-format off
inline constexpr auto ready_table = rows::table("ready",
    rows::key(rows::integer<&QueueRow::lane>("lane")),
    rows::key(rows::small<&QueueRow::priority>("priority")),
    rows::key(rows::integer<&QueueRow::id>("id")),
    rows::given_text<&QueueRow::keys>("keys"));
inline constexpr auto timed_table = rows::table("timed",
    rows::key(rows::integer<&QueueRow::run_after>("run_after")),
    rows::key(rows::integer<&QueueRow::id>("id")),
    rows::integer<&QueueRow::lane>("lane"),
    rows::small<&QueueRow::priority>("priority"),
    rows::given_text<&QueueRow::keys>("keys"));
inline constexpr auto parked_table = rows::table("parked",
    rows::key(rows::text<&QueueRow::tenant>("tenant")),
    rows::key(rows::text<&QueueRow::key>("key")),
    rows::key(rows::integer<&QueueRow::lane>("lane")),
    rows::key(rows::small<&QueueRow::priority>("priority")),
    rows::key(rows::integer<&QueueRow::id>("id")),
    rows::text<&QueueRow::keys>("keys"));

struct Blocker {
    JobId depends_on;
    JobId job;
    LaneId lane = 0;
    int nth = 0;
};
inline constexpr auto blocker_table = rows::table("blocker",
    rows::key(rows::integer<&Blocker::depends_on>("depends_on")),
    rows::key(rows::integer<&Blocker::job>("job_id")),
    rows::integer<&Blocker::lane>("lane"),
    rows::small<&Blocker::nth>("nth"));

struct OpenDependency {
    JobId depends_on;
    JobId job;
};
inline constexpr auto open_dependency_table = rows::table("open_dependency",
    rows::key(rows::integer<&OpenDependency::depends_on>("depends_on")),
    rows::key(rows::integer<&OpenDependency::job>("job_id")));

struct HeldKey {
    std::string_view tenant;
    std::string_view key;
    JobId job{};
};
inline constexpr auto held_table = rows::table("held",
    rows::key(rows::text<&HeldKey::tenant>("tenant")),
    rows::key(rows::text<&HeldKey::key>("key")),
    rows::integer<&HeldKey::job>("job_id"));

// ── limits ──

// Permits that a meter has given out since it began to count.
struct Taken {
    std::int64_t count = 0;
};
inline constexpr auto meter_table = rows::extended(rows::meter_table,
    rows::changing(rows::integer<&Taken::count>("taken")));

struct PermitReturn {
    MeterId meter = 0;
    int seat = 0;
    std::int64_t given = 0;
};
inline constexpr auto permit_return_table = rows::table("permit_return",
    rows::key(rows::integer<&PermitReturn::meter>("meter")),
    rows::key(rows::small<&PermitReturn::seat>("seat")),
    rows::integer<&PermitReturn::given>("given"));

// The committer that has written a row, by its seat.
struct WrittenBy {
    int seat = 0;
};
inline constexpr auto source_table = rows::extended(rows::source_table,
    rows::key(rows::small<&WrittenBy::seat>("seat")));
inline constexpr auto source_hour_table = rows::extended(rows::source_hour_table,
    rows::key(rows::small<&WrittenBy::seat>("seat")));
// clang-format on

}  // namespace sluice::postgres::tables
