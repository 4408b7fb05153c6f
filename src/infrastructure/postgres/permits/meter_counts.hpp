#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "application/ports/limit_store.hpp"
#include "infrastructure/postgres/connection/connection.hpp"
#include "infrastructure/sql/limit_rows.hpp"

namespace sluice::postgres {

// Leases by the lanes that rules can tell apart: labels do not count.
std::vector<LaneNow> leased_lanes(Connection& connection);

// The ids of rules that count what is active.
std::set<std::string> counting_rules(const LimitRules& rules);

// The meters of those of these rules that are wanted, as far as they have leases, with the number
// of these as `active`.
std::map<MeterId, StoredMeter> count_meters(const LimitRules& rules,
                                            const std::vector<LaneNow>& leased,
                                            const std::set<std::string>& wanted);

}  // namespace sluice::postgres
