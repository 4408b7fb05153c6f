#include "infrastructure/postgres/database_time.hpp"

#include <algorithm>

#include "infrastructure/boot_clock.hpp"

namespace sluice::postgres {
namespace {

constexpr Query read_time{"read_time",
                          "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8"};
constexpr int measures = 8;

}  // namespace

Timestamp database_now(Connection& connection) {
    Duration least = Duration::max();
    Timestamp measured{};  // at boot, so that the measures can be told apart later
    for (int i = 0; i < measures; ++i) {
        const Duration start = since_boot();
        const Connection::Ticket ticket = connection.post(read_time);
        connection.sync();
        const Result result = connection.take(ticket);
        const Duration trip = since_boot() - start;
        if (trip >= least) continue;
        least = trip;
        measured = Row(result, 0).time() - (start + trip / 2);
    }
    return measured + since_boot();
}

DatabaseTime::DatabaseTime(Timestamp measured) {
    set(measured);
}

// The bar sinks to twice the quickest measure, and rises again by and by where none is as quick.
void DatabaseTime::correct(Timestamp measured, Duration trip) {
    if (trip > quick_) {
        quick_ += quick_ / 8;
        return;
    }
    quick_ = std::max(2 * trip, Duration(std::chrono::microseconds(200)));
    set(measured);
}

void DatabaseTime::set(Timestamp measured) {
    micros_at_boot_ = to_micros(measured - since_boot());
}

Timestamp DatabaseTime::now() const {
    return from_micros(micros_at_boot_) + since_boot();
}

}  // namespace sluice::postgres
