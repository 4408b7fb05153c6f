#pragma once

#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::postgres {

// Throws std::runtime_error, with what to set, unless the server keeps what it has acknowledged
// through a crash of its own and of its machine. Outside of a transaction.
void check_durability(Connection& connection);

}  // namespace sluice::postgres
