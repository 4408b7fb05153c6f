#pragma once

#include <string>
#include <utility>

#include "support/builders.hpp"
#include "support/written_rules.hpp"

// Rules about what may run, and jobs for them, for tests of stores.
namespace sluice::limit_builders {

inline LimitRule at_most(std::int64_t active, const std::string& name = "aa") {
    LimitRule rule = limit_rule(name);
    rule.max_active = active;
    return rule;
}

inline LimitRule at_most_per(CountedBy per, std::int64_t active) {
    LimitRule rule = at_most(active);
    rule.per = per;
    return rule;
}

inline LimitRule rate(std::int64_t count, Duration period, std::int64_t burst) {
    LimitRule rule = limit_rule("bb");
    rule.rate = LimitRate{.count = count, .period = period, .burst = burst};
    return rule;
}

inline LimitRule pause(LimitScope scope) {
    LimitRule rule = limit_rule("cc");
    rule.kind = LimitKind::throttle;
    rule.scope = std::move(scope);
    rule.paused = true;
    return rule;
}

inline JobSpec from_source(std::int64_t id, std::string source) {
    JobSpec made = spec(id);
    made.source = std::move(source);
    return made;
}

inline JobSpec of_tenant(std::int64_t id, std::string tenant) {
    JobSpec made = spec(id);
    made.tenant = std::move(tenant);
    return made;
}

inline JobSpec with_key(std::int64_t id, std::string key) {
    JobSpec made = spec(id);
    made.exclusive_keys = {std::move(key)};
    return made;
}

inline const ClaimFilter anything{.tenant = "", .any_tenant = true};

}  // namespace sluice::limit_builders
