#pragma once

#include <span>
#include <vector>

#include "application/ports/commands.hpp"
#include "application/toolkit/transaction.hpp"

namespace sluice {

// Decides requests of clients about entities, one after the other; each sees the changes of those
// before it.
std::vector<Result<EntityAnswer>> change_entities(Transaction& tx,
                                                  std::span<const EntityAction> actions);

}  // namespace sluice
