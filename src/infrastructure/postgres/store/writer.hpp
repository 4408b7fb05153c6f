#pragma once

#include <cstdint>
#include <memory>

#include "infrastructure/postgres/cluster/cluster.hpp"
#include "infrastructure/postgres/cluster/seats.hpp"
#include "infrastructure/postgres/connection/connection.hpp"
#include "infrastructure/postgres/connection/outage.hpp"
#include "infrastructure/postgres/store/work.hpp"

namespace sluice::postgres {

// The state that a committer keeps from one session to the next.
struct Writer {
    ConnectOptions options;
    std::unique_ptr<Connection> connection{};
    Seat seat{};
    std::int64_t commits = 0;  // the seat's count after the last commit that is known
    bool is_in_doubt = false;  // whether the commit after that one happened is unknown
    ReadyCounts readied{};     // that newly_ready() has not told yet
    Timestamp seen{};
    Outage outage{};
};

// Connects if need be, and tries for up to `patience`; throws StoreUnavailable when no server
// answers.
void reach_server(Writer& writer, Millis patience);

// Sees to it that the commit in doubt either has happened or never will, and returns which. Throws
// StoreUnavailable, and leaves it in doubt, when the server does not tell within the patience.
bool settle_doubt(Writer& writer, std::int64_t owner, Millis patience);

// A number from a seat that another committer has taken must not be used; a restart takes another
// seat.
[[noreturn]] void stop_without_seat(const std::string& why);

}  // namespace sluice::postgres
