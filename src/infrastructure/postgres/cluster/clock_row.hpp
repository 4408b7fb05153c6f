#pragma once

#include "infrastructure/postgres/cluster/cluster_time.hpp"
#include "infrastructure/postgres/connection/connection.hpp"

// The row of the table clock, by which nodes agree on the time. The watch's tick writes the time
// into it that its node goes by (tick.cpp).
namespace sluice::postgres {

// The server's own clock. It is asked several times, and the quickest answer counts: it is off by
// half the round trip at the most.
Timestamp server_now(Connection& connection);

// How far cluster time is ahead of the server's clock. Throws like read_clock.
Duration read_ahead(Connection& connection);

// Reads the cluster time, unless it is known already. When the server's clock may have been set a
// moment ago, waits for the living nodes to correct the row. Outside of a transaction.
void know_time(Connection& connection, ClusterTime& time);

// Reads the row, and corrects it when the server's clock was set. Returns by how much the server's
// clock was found to be off, if this node has corrected the row. Outside of a transaction.
std::optional<Duration> keep_time(Connection& connection, ClusterTime& time, bool is_last = false);

}  // namespace sluice::postgres
