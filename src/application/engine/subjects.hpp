#pragma once

#include <vector>

#include "application/ports/batch.hpp"
#include "application/ports/store.hpp"
#include "application/toolkit/rules.hpp"

namespace sluice {

// Jobs and entities that earlier tries of a batch asked for too late, while other sessions had
// locked them.
struct Late {
    std::vector<JobId> jobs{};
    std::vector<EntityKey> entities{};
};

// The subjects of the batch's commands, with the late ones of earlier tries. `rules` outlives the
// session that reserves them.
Subjects subjects_of(const Batch& batch, const Rules& rules, const Late& late);

}  // namespace sluice
