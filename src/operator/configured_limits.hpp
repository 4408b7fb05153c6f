#pragma once

#include "application/limits/change_limits.hpp"
#include "application/ports/clock.hpp"
#include "application/ports/store.hpp"
#include "application/ports/wakeups.hpp"

namespace sluice {

// Makes the stored rules about what may run those of the configuration, before any committer
// begins: no job is leased under the rules before. Throws std::runtime_error when the store has
// other rules of the same revision, or does not answer. Returns the news for other nodes.
Announcement apply_configured_limits(const ConfiguredLimits& wanted, Store& store,
                                     const Rules& rules, Clock& clock);

}  // namespace sluice
