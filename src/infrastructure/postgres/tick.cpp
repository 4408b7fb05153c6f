#include "infrastructure/postgres/tick.hpp"

#include <charconv>

#include "infrastructure/boot_clock.hpp"

namespace sluice::postgres {
namespace {

// Seats are renewed last, since nothing refers to them: the scan of the leases comes before, and a
// committer that signs its commit waits for a moment at the most. One that is signing now is passed
// over and renewed the next time; so a node counts until it has missed seven times. Nothing here
// needs to be on disk, so that the commit waits for no disk.
//
// When nobody had the duty for a while, the database was away, or all nodes were: no worker could
// renew its lease. So all leases get that time back, unless an engine that noticed has given it to
// them (Engine::give_back_lease_time); until then none has run out (find_expired).
constexpr Query tick_query{"tick", R"sql(
WITH seats AS (
    UPDATE seat SET until = now() + interval '2 minutes' WHERE number IN (
        SELECT number FROM seat WHERE owner = $1::int8 FOR UPDATE SKIP LOCKED)),
taken AS (
    UPDATE duty SET owner = $1::int8, until = now() + $3::int8 * interval '1 microsecond'
    WHERE name = (SELECT name FROM duty WHERE name = 'watch'
                  AND (owner = $1::int8 OR until < now()) FOR UPDATE SKIP LOCKED) RETURNING name),
silence AS (
    SELECT (extract(epoch FROM now() - before.until) * 1000000)::int8 AS micros
    FROM duty before, taken
    WHERE before.name = taken.name AND before.owner <> 0
        AND before.until < now() - interval '4 seconds'),
renewed AS (
    UPDATE lease SET until = greatest(until, least(until + silence.micros,
        (extract(epoch FROM now()) * 1000000)::int8 + term)) FROM silence)
SELECT set_config('synchronous_commit', 'off', true) IS NOT NULL,
    EXISTS (SELECT FROM taken),
    (SELECT count(DISTINCT owner) FROM seat
     WHERE owner <> $1::int8 AND until > now() + interval '105 seconds'),
    (SELECT coalesce(sum(commits), 0)::int8 FROM seat),
    (SELECT count(*) FROM lane),
    CASE WHEN EXISTS (SELECT FROM taken) THEN (SELECT min(run_after) FROM timed) END,
    CASE WHEN EXISTS (SELECT FROM taken)
         THEN (SELECT least(min(until), min(deadline)) FROM lease) END,
    CASE WHEN $2::bool THEN (SELECT string_agg(id::text, ',') FROM lane
        WHERE EXISTS (SELECT FROM ready WHERE ready.lane = lane.id)) END,
    (extract(epoch FROM clock_timestamp()) * 1000000)::int8)sql"};

constexpr Query leave_duty_query{
    "leave_duty", "UPDATE duty SET until = now() WHERE name = 'watch' AND owner = $1::int8"};

std::vector<LaneId> read_lanes(const std::string& text) {
    std::vector<LaneId> lanes;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end; ++at) {
        at = std::from_chars(at, end, lanes.emplace_back()).ptr;
    }
    return lanes;
}

}  // namespace

Tick tick(Connection& connection, std::int64_t owner, bool with_lanes) {
    const Duration start = since_boot();
    const Connection::Ticket ticket =
        connection.post(tick_query, Params(owner, with_lanes, duty_term));
    connection.sync();
    const Result result = connection.take(ticket);
    const Duration trip = since_boot() - start;

    Row row(result, 0);
    row.skip(1);
    Tick heard{.has_duty = row.flag(), .other_nodes = row.small(), .commits = row.integer()};
    heard.lanes = static_cast<std::size_t>(row.integer());
    heard.timed_due = row.maybe_time().value_or(never);
    heard.lease_due = row.maybe_time().value_or(never);
    heard.ready = read_lanes(row.text());
    heard.time = row.time() + trip / 2;
    heard.trip = trip;
    return heard;
}

void leave_duty(Connection& connection, std::int64_t owner) {
    connection.send(leave_duty_query, Params(owner));
    connection.sync();
}

}  // namespace sluice::postgres
