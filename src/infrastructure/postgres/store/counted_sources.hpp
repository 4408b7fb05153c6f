#pragma once

#include "infrastructure/postgres/cluster/cluster.hpp"

namespace sluice::postgres {

// Writes what this node has counted of sources, in rows of this seat, in a transaction of its own
// that does not wait for the disk: a crash of the node or the server may lose the last second of
// these counts, and a connection that breaks may have them written twice. Nothing is decided by
// them. On a conflict they stay for the next time.
void write_counted_sources(Connection& connection, Cluster& cluster, int seat);

}  // namespace sluice::postgres
