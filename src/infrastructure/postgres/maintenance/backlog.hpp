#pragma once

#include "infrastructure/postgres/connection/connection.hpp"
#include "infrastructure/sql/duty_backlog.hpp"

namespace sluice::postgres {

// Only reads. Outside of a transaction, in a database that has a store.
DutyBacklog look_at_backlog(Connection& connection, const BacklogQuestion& question);

}  // namespace sluice::postgres
