#include "infrastructure/postgres/cluster/clock_row.hpp"

#include <stdexcept>
#include <thread>

namespace sluice::postgres {
namespace {

using namespace std::chrono_literals;

constexpr int measures = 8;
constexpr Duration start_pause = 200ms;  // between the readings of a node that starts

constexpr Query read_server_time{"read_server_time",
                                 "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8"};

constexpr Query read_row{"read_clock", R"sql(
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8, ahead, latest, corrections,
    agreements
FROM clock)sql"};

// Sums up the seats of nodes that have not left them: such a node lives, or was killed. It lives if
// its sessions hold its mark (silent_nodes.hpp). Marks tell nothing behind a pooler, where they
// exist only now and then ($1), nor for a while after the database was started again: then all
// seats count. A start by a clock that was set back is not seen, and does no harm, since time never
// goes back.
constexpr Query sum_seats{"sum_seats", R"sql(
SELECT coalesce(sum((extract(epoch FROM s.until) * 1000000)::int8), 0)::int8 FROM seat s, clock c
WHERE s.until > 'epoch'::timestamptz + c.latest * interval '1 microsecond' + interval '1 minute'
    AND ($1::bool
        OR extract(epoch FROM pg_postmaster_start_time()) * 1000000 + c.ahead > c.latest
        OR EXISTS (SELECT FROM pg_locks l
            WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
                AND ((l.classid::int8 << 32) | l.objid::int8) = s.owner)))sql"};

constexpr Query correct_row{"correct_clock", R"sql(
UPDATE clock SET ahead = $1::int8, corrections = corrections + 1
WHERE corrections = $2::int8)sql"};

struct Answer {
    Result result{};
    Duration at{};  // since boot: the middle of the round trip
    Duration trip{};
};

Answer ask_at_once(Connection& connection, const Query& query, const Params& params = {}) {
    const Duration start = since_boot();
    const Connection::Ticket ticket = connection.post(query, params);
    connection.sync();
    Answer answer{.result = connection.take(ticket)};
    answer.trip = since_boot() - start;
    answer.at = start + answer.trip / 2;
    return answer;
}

ClockReading read_clock(Connection& connection) {
    const Answer answer = ask_at_once(connection, read_row);
    if (answer.result.rows() == 0) {
        throw std::runtime_error(
            "the table clock of the database has lost its row: INSERT INTO clock DEFAULT VALUES");
    }
    Row row(answer.result, 0);
    ClockReading reading{.at = answer.at, .trip = answer.trip};
    reading.server = row.time();
    reading.ahead = Duration(row.integer());
    reading.latest = row.time();
    reading.corrections = row.integer();
    reading.agreements = row.integer();
    return reading;
}

ClockReading read_at_start(Connection& connection) {
    ClockReading quickest = read_clock(connection);
    for (int i = 1; i < measures; ++i) {
        const ClockReading reading = read_clock(connection);
        if (reading.trip < quickest.trip || reading.corrections != quickest.corrections) {
            quickest = reading;
        }
    }
    const Answer seats = ask_at_once(connection, sum_seats, Params(connection.is_pooled()));
    quickest.seats = Row(seats.result, 0).integer();
    return quickest;
}

bool write(Connection& connection, const ClockCorrection& correction) {
    const Connection::Ticket ticket =
        connection.post(correct_row, Params(correction.ahead, correction.after));
    connection.sync();
    return connection.take(ticket).affected() > 0;
}

}  // namespace

Timestamp server_now(Connection& connection) {
    Duration least = Duration::max();
    Timestamp at_boot{};
    for (int i = 0; i < measures; ++i) {
        const Answer answer = ask_at_once(connection, read_server_time);
        if (answer.trip >= least) continue;
        least = answer.trip;
        at_boot = Row(answer.result, 0).time() - answer.at;
    }
    return at_boot + since_boot();
}

Duration read_ahead(Connection& connection) {
    return read_clock(connection).ahead;
}

void know_time(Connection& connection, ClusterTime& time) {
    if (time.is_known()) return;
    ClockReading reading = read_at_start(connection);
    while (time.waits(reading)) {
        std::this_thread::sleep_for(start_pause);
        reading = read_at_start(connection);
    }
    if (const auto correction = time.begin(reading)) write(connection, *correction);
}

std::optional<Duration> keep_time(Connection& connection, ClusterTime& time, bool is_last) {
    const ClockReading reading = read_clock(connection);
    const std::optional<ClockCorrection> correction = time.look(reading, is_last);
    if (!correction || !write(connection, *correction)) return std::nullopt;
    return reading.ahead - correction->ahead;
}

}  // namespace sluice::postgres
