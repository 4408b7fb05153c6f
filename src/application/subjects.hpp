#pragma once

#include <vector>

#include "application/batch.hpp"
#include "application/ports/store.hpp"
#include "application/rules.hpp"

namespace sluice {

// What earlier tries of a batch asked for too late, while other sessions had it.
struct Late {
    std::vector<JobId> jobs{};
    std::vector<EntityKey> entities{};
};

// The subjects of the batch's commands, with those that came too late before. `rules` outlives the
// session that reserves them.
Subjects subjects_of(const Batch& batch, const Rules& rules, const Late& late);

}  // namespace sluice
