#pragma once

#include <span>
#include <vector>

#include "application/commands.hpp"
#include "application/transaction.hpp"

namespace sluice {

// Decides what clients say about entities, one after the other, each seeing what those before it
// have changed.
std::vector<Result<EntityAnswer>> change_entities(Transaction& tx,
                                                  std::span<const EntityAction> actions);

}  // namespace sluice
