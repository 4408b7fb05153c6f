#pragma once

#include <cstdint>
#include <memory>

#include "infrastructure/postgres/cluster.hpp"
#include "infrastructure/postgres/connection.hpp"
#include "infrastructure/postgres/outage.hpp"
#include "infrastructure/postgres/seats.hpp"
#include "infrastructure/postgres/work.hpp"

namespace sluice::postgres {

// What a committer keeps from one session to the next.
struct Writer {
    ConnectOptions options;
    std::unique_ptr<Connection> connection{};
    Seat seat{};
    std::int64_t commits = 0;  // the seat's count after the last commit that is known
    bool is_in_doubt = false;  // of the commit after that one nobody knows whether it happened
    ReadyCounts readied{};     // what newly_ready() has not told yet
    Timestamp seen{};
    Outage outage{};
};

// Connects if need be, and tries for up to `patience`; throws StoreUnavailable when nobody answers.
void reach_server(Writer& writer, Millis patience);

// Sees to it that the commit in doubt either has happened or never will, and returns which. Throws
// StoreUnavailable, and leaves it in doubt, when the server does not tell within the patience.
bool settle_doubt(Writer& writer, std::int64_t owner, Millis patience);

// Numbers from a seat that somebody else sits on must not get out; a restart takes another one.
[[noreturn]] void stand_up(const std::string& why);

}  // namespace sluice::postgres
