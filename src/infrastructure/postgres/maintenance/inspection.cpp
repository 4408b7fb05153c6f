#include "infrastructure/postgres/maintenance/inspection.hpp"

namespace sluice::postgres {
namespace {

constexpr Query inspect_server{"", R"sql(
SELECT current_setting('server_version'), current_setting('autovacuum') = 'on',
    (SELECT count(*)::int4 FROM pg_stat_activity WHERE backend_type = 'client backend'),
    current_setting('max_connections')::int4,
    (SELECT count(*)::int4 FROM pg_stat_activity
     WHERE datname = current_database() AND state LIKE 'idle in transaction%'
        AND state_change < now() - interval '5 minutes'),
    to_regclass($1::text || '.seat') IS NOT NULL
        AND to_regclass($1::text || '.clock') IS NOT NULL)sql"};

// Seats are renewed for two minutes every other second; see tick.cpp for which nodes count.
constexpr Query list_nodes{"", R"sql(
SELECT s.node, count(*)::int4, bool_or(s.owner = d.owner AND d.until > cluster.moment)
FROM (SELECT now() + ahead * interval '1 microsecond' AS moment FROM clock) cluster
CROSS JOIN seat s JOIN duty d ON d.name = 'watch'
WHERE s.until > cluster.moment + interval '105 seconds'
GROUP BY s.owner, s.node ORDER BY s.node)sql"};

// See silent_nodes.cpp for marks.
constexpr Query count_foreign_sessions{"", R"sql(
SELECT count(*)::int4 FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND a.datname = current_database()
    AND EXISTS (SELECT FROM seat s WHERE s.owner = (l.classid::int8 << 32) | l.objid::int8)
    AND NOT pg_has_role(a.usesysid, 'MEMBER')
    AND NOT pg_has_role('pg_signal_backend', 'MEMBER'))sql"};

std::vector<LivingNode> read_nodes(Connection& connection) {
    const Result rows = connection.ask(list_nodes);
    connection.sync();
    std::vector<LivingNode> nodes;
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        LivingNode& node = nodes.emplace_back();
        node.name = row.text();
        node.seats = row.small();
        node.has_duty = row.flag();
    }
    return nodes;
}

}  // namespace

Inspection inspect(Connection& connection) {
    const Result result = connection.ask(inspect_server, Params(connection.schema().quoted()));
    connection.sync();
    Row row(result, 0);
    Inspection seen;
    seen.version = row.text();
    seen.vacuums_by_itself = row.flag();
    seen.connections = row.small();
    seen.connections_max = row.small();
    seen.forgotten_transactions = row.small();
    seen.has_store = row.flag();
    if (!seen.has_store) return seen;
    seen.nodes = read_nodes(connection);
    const Result foreign = connection.ask(count_foreign_sessions);
    connection.sync();
    seen.foreign_sessions = Row(foreign, 0).small();
    return seen;
}

}  // namespace sluice::postgres
