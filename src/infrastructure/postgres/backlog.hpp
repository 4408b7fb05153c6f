#pragma once

#include "infrastructure/duty_backlog.hpp"
#include "infrastructure/postgres/connection.hpp"

namespace sluice::postgres {

// Only reads. Outside of a transaction, in a database that has a store.
DutyBacklog look_at_backlog(Connection& connection, const BacklogQuestion& question);

}  // namespace sluice::postgres
