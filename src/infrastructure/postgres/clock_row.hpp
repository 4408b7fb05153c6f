#pragma once

#include "infrastructure/postgres/cluster_time.hpp"
#include "infrastructure/postgres/connection.hpp"

// The row of the table clock, by which nodes agree on the time. The watch's tick writes the time
// into it that its node goes by (tick.cpp).
namespace sluice::postgres {

// The server's own clock. It is asked several times, and the quickest answer counts: it is off by
// half the round trip at the most.
Timestamp server_now(Connection& connection);

// How far cluster time is ahead of the server's clock. Throws like read_clock.
Duration read_ahead(Connection& connection);

// Has the time at hand, unless it is already. When the server's clock may have been set a moment
// ago it waits for the nodes that live to correct the row. Outside of a transaction.
void know_time(Connection& connection, ClusterTime& time);

// A look at the row, which corrects it when the server's clock was set. Returns by how much the
// server's clock was found to be off, if this node has corrected the row. Outside of a transaction.
std::optional<Duration> keep_time(Connection& connection, ClusterTime& time, bool is_last = false);

}  // namespace sluice::postgres
