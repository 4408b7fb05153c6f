#pragma once

#include "application/toolkit/transaction.hpp"

// Rules that were made for a while. From their end on they have no effect; that they are lifted
// takes them out of lists and lets their meters go, and tells the control history.
namespace sluice {

// When the first of these rules ends, or `never`.
Timestamp next_end(const LimitRules& rules);

// Lifts up to `limit` rules whose end has come, in a session of its own as change_limits() needs
// it, and returns how many. A rule that another node has lifted or prolonged is left alone.
int lift_ended_rules(Transaction& tx, int limit);

}  // namespace sluice
