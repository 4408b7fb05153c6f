#pragma once

#include <optional>
#include <string>

#include "domain/limits/limit_rules.hpp"
#include "domain/values/result.hpp"

namespace sluice {

// Why no job is taken for this tenant now: it is blocked, or maintenance refuses submits. Asked for
// jobs that clients ask for, not for those that the engine makes when others start or end.
std::optional<Error> refused_submit(const LimitRules& rules, const std::string& tenant,
                                    Timestamp now);

}  // namespace sluice
