#pragma once

#include <span>

#include "application/batch.hpp"
#include "application/ports/store.hpp"
#include "application/rules.hpp"

namespace sluice {

// The subjects of the batch's commands, with the entities that an earlier try of the same batch
// asked for too late. `rules` outlives the session that reserves it.
Subjects subjects_of(const Batch& batch, const Rules& rules, std::span<const EntityKey> late);

}  // namespace sluice
