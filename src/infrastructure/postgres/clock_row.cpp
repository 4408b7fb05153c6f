#include "infrastructure/postgres/clock_row.hpp"

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

// A node that has not left its seats, and whose sessions hold its mark (silent_nodes.hpp). Behind a
// pooler they do so only now and then, and the seats have to do.
constexpr Query find_others{"find_others", R"sql(
SELECT EXISTS (SELECT FROM seat s, clock c
    WHERE s.until > 'epoch'::timestamptz + c.latest * interval '1 microsecond' + interval '1 minute'
        AND ($1::bool OR EXISTS (SELECT FROM pg_locks l
            WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
                AND ((l.classid::int8 << 32) | l.objid::int8) = s.owner))))sql"};

constexpr Query correct_row{"correct_clock", R"sql(
UPDATE clock SET ahead = $1::int8, corrections = corrections + 1
WHERE corrections = $2::int8)sql"};

struct Answer {
    Result result{};
    Duration at{};  // since boot: the middle of the round trip
    Duration trip{};
};

Answer ask_at_once(Connection& connection, const Query& query) {
    const Duration start = since_boot();
    const Connection::Ticket ticket = connection.post(query);
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

ClockReading quickest_reading(Connection& connection) {
    ClockReading quickest = read_clock(connection);
    for (int i = 1; i < measures; ++i) {
        const ClockReading reading = read_clock(connection);
        if (reading.trip < quickest.trip || reading.corrections != quickest.corrections) {
            quickest = reading;
        }
    }
    return quickest;
}

bool others_live(Connection& connection) {
    const Connection::Ticket ticket = connection.post(find_others, Params(connection.is_pooled()));
    connection.sync();
    const Result found = connection.take(ticket);
    return Row(found, 0).flag();
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
    const Duration patience_end = since_boot() + ClusterTime::start_patience;
    ClockReading reading = quickest_reading(connection);
    while (!ClusterTime::is_believable(reading) && others_live(connection) &&
           since_boot() < patience_end) {
        std::this_thread::sleep_for(start_pause);
        reading = quickest_reading(connection);
    }
    if (const auto correction = time.begin(reading)) write(connection, *correction);
}

std::optional<Duration> keep_time(Connection& connection, ClusterTime& time) {
    const ClockReading reading = read_clock(connection);
    const std::optional<ClockCorrection> correction = time.look(reading);
    if (!correction || !write(connection, *correction)) return std::nullopt;
    return reading.ahead - correction->ahead;
}

}  // namespace sluice::postgres
