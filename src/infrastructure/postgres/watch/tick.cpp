#include "infrastructure/postgres/watch/tick.hpp"

#include <charconv>

namespace sluice::postgres {
namespace {

// The node's time as the server's type: a tick goes only by this time, never by the server's clock.
#define SLUICE_NOW "('epoch'::timestamptz + $4::int8 * interval '1 microsecond')"

// Seats are renewed last, since nothing refers to them: the scan of the leases comes before, and a
// committer that signs its commit waits for a moment at the most. A seat that is being signed is
// passed over and renewed by the next tick; so a node counts until it has missed seven ticks.
// Nothing here needs to be on disk, so the commit does not wait for the disk.
//
// When no node had the duty for a while, the database was away, or all nodes were: no worker could
// renew its lease. So all leases get that time back, unless an engine that noticed has given it to
// them (Engine::give_back_lease_time); until then none has run out (find_expired). A duty that
// lasts longer than any node would ask for counts as free.
//
// Cluster time comes closer to the server's clock by a two-hundredth of the time that passes.
//
// The time of a node that is not settled ($6) may be wrong: it is not written, since other nodes
// would believe it, and nothing ends by it.
constexpr Query tick_query{"tick", R"sql(
WITH agreed AS (
    UPDATE clock SET latest = greatest(latest, $4::int8), agreements = agreements + $5::bool::int,
        ahead = ahead - CASE WHEN $5::bool THEN sign(ahead)::int8
            * least(abs(ahead), greatest(least($4::int8 - latest, 10000000), 0) / 200) ELSE 0 END
    WHERE $6::bool AND is_row = (SELECT is_row FROM clock FOR UPDATE SKIP LOCKED)),
seats AS (
    UPDATE seat SET until = )sql" SLUICE_NOW R"sql( + interval '2 minutes' WHERE number IN (
        SELECT number FROM seat WHERE owner = $1::int8 FOR UPDATE SKIP LOCKED)),
taken AS (
    UPDATE duty SET owner = $1::int8,
        until = )sql" SLUICE_NOW R"sql( + $3::int8 * interval '1 microsecond'
    WHERE $6::bool AND name = (SELECT name FROM duty WHERE name = 'watch' AND (owner = $1::int8
            OR until < )sql" SLUICE_NOW R"sql(
            OR until > )sql" SLUICE_NOW R"sql( + interval '1 minute')
        FOR UPDATE SKIP LOCKED) RETURNING name),
silence AS (
    SELECT $4::int8 - (extract(epoch FROM before.until) * 1000000)::int8 AS micros
    FROM duty before, taken
    WHERE before.name = taken.name AND before.owner <> 0
        AND before.until < )sql" SLUICE_NOW R"sql( - interval '4 seconds'),
renewed AS (
    UPDATE lease SET until = greatest(until, least(until + silence.micros,
        $4::int8 + term)) FROM silence)
SELECT set_config('synchronous_commit', 'off', true) IS NOT NULL,
    EXISTS (SELECT FROM taken),
    (SELECT count(DISTINCT owner) FROM seat
     WHERE owner <> $1::int8 AND until > )sql" SLUICE_NOW R"sql( + interval '105 seconds'),
    (SELECT coalesce(sum(commits), 0)::int8 FROM seat),
    (SELECT count(*) FROM lane),
    CASE WHEN EXISTS (SELECT FROM taken) THEN (SELECT min(run_after) FROM timed) END,
    CASE WHEN EXISTS (SELECT FROM taken)
         THEN (SELECT least(min(until), min(deadline)) FROM lease) END,
    CASE WHEN $2::bool THEN (SELECT string_agg(id::text, ',') FROM lane
        WHERE EXISTS (SELECT FROM ready WHERE ready.lane = lane.id)) END,
    (SELECT coalesce(max(rules), 0) FROM seat))sql"};
#undef SLUICE_NOW

constexpr Query leave_duty_query{"leave_duty", R"sql(
UPDATE duty SET until = 'epoch'::timestamptz + $2::int8 * interval '1 microsecond'
WHERE name = 'watch' AND owner = $1::int8)sql"};

std::vector<LaneId> read_lanes(const std::string& text) {
    std::vector<LaneId> lanes;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end; ++at) {
        at = std::from_chars(at, end, lanes.emplace_back()).ptr;
    }
    return lanes;
}

}  // namespace

Tick tick(Connection& connection, const Ticking& node) {
    const Connection::Ticket ticket = connection.post(
        tick_query,
        Params(node.owner, node.with_lanes, duty_term, node.now, node.agrees, node.is_settled));
    connection.sync();
    const Result result = connection.take(ticket);

    Row row(result, 0);
    row.skip(1);
    Tick heard{.has_duty = row.flag(), .other_nodes = row.small(), .commits = row.integer()};
    heard.lanes = static_cast<std::size_t>(row.integer());
    heard.timed_due = row.maybe_time().value_or(never);
    heard.lease_due = row.maybe_time().value_or(never);
    heard.ready = read_lanes(row.text());
    heard.rules = row.integer();
    return heard;
}

void leave_duty(Connection& connection, std::int64_t owner, Timestamp now) {
    connection.send(leave_duty_query, Params(owner, now));
    connection.sync();
}

}  // namespace sluice::postgres
