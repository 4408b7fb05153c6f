#include "application/toolkit/refused_submits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

using namespace std::chrono_literals;

// The end of the rule, rounded up. A rule may also be lifted before its end, so that clients ask
// again at least once an hour.
std::chrono::seconds retry_after(const LimitRule& rule, Timestamp now) {
    if (!rule.until) return 30s;
    return std::clamp(std::chrono::ceil<std::chrono::seconds>(*rule.until - now), 1s, 3600s);
}

Error refusal_by(const LimitRule& rule, const std::string& tenant, Timestamp now) {
    const std::string end =
        rule.until ? fmt::format(" until {}", to_rfc3339(*rule.until)) : std::string();
    if (rule.kind == LimitKind::block) {
        return {
            ErrorCode::forbidden,
            fmt::format("tenant {} is blocked{} by {}: {}", tenant, end, rule.actor, rule.reason),
            ""};
    }
    return {ErrorCode::unavailable,
            fmt::format("no jobs are taken during maintenance{}: {}", end, rule.reason), "",
            retry_after(rule, now)};
}

}  // namespace

std::optional<Error> refused_submit(const LimitRules& rules, const std::string& tenant,
                                    Timestamp now) {
    if (rules.empty()) return std::nullopt;
    const LimitRule* const rule = rules.refuses_submits(tenant, now);
    return rule == nullptr ? std::nullopt : std::optional(refusal_by(*rule, tenant, now));
}

}  // namespace sluice
