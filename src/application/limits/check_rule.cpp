// What a rule, and the reason for a change, must be like.
#include <fmt/format.h>

#include "application/limits/change_limits.hpp"
#include "application/toolkit/names.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t count_max = 1'000'000'000;
constexpr Duration shortest_period = 10ms;
constexpr Duration longest_period = std::chrono::hours(24);
constexpr Duration longest_fill = std::chrono::hours(24 * 31);

std::optional<Error> check_pattern(std::string_view field, const std::string& pattern) {
    if (auto refusal = check_name(field, pattern)) return refusal;
    const auto star = pattern.find('*');
    if (star != std::string::npos && star + 1 != pattern.size()) {
        return refuse(field, "may have a * at its end only, for all names that begin so");
    }
    if (pattern == "*") return refuse(field, "is for all: leave it out");
    if (field == "tenant" && pattern.starts_with('@')) return check_tenant(field, pattern);
    return std::nullopt;
}

std::optional<Error> check_scope(const LimitScope& scope) {
    for (const Dimension dimension : all_dimensions) {
        if (auto refusal = check_pattern(to_text(dimension), scope.pattern(dimension))) {
            return refusal;
        }
    }
    return std::nullopt;
}

std::optional<Error> check_count(std::string_view field, std::int64_t count,
                                 std::string_view instead) {
    if (count < 1) return refuse(field, fmt::format("must be at least 1; {}", instead));
    if (count > count_max) return refuse(field, fmt::format("must be at most {}", count_max));
    return std::nullopt;
}

std::optional<Error> check_rate(const LimitRule& rule) {
    const LimitRate& rate = *rule.rate;
    const bool is_quota = rule.kind == LimitKind::quota;
    const char* const field = is_quota ? "max_per_hour" : "rate/count";
    if (auto refusal = check_count(field, rate.count, "to stop all starts, pause instead")) {
        return refusal;
    }
    if (rate.period < shortest_period || rate.period > longest_period) {
        return refuse("rate/period_ms", "must be between 10 and 86400000 (a day)");
    }
    const char* const burst = is_quota ? "burst" : "rate/burst";
    if (auto refusal = check_count(burst, rate.burst, "without a burst, leave it out")) {
        return refusal;
    }
    const auto fill = static_cast<double>(rate.period.count()) / static_cast<double>(rate.count) *
                      static_cast<double>(rate.burst);
    if (fill > static_cast<double>(longest_fill.count())) {
        return refuse(burst, "would take more than 31 days to come back: lower it");
    }
    return std::nullopt;
}

std::optional<Error> check_bounds(const LimitRule& rule) {
    if (rule.max_active) {
        auto refusal = check_count("max_active", *rule.max_active,
                                   "to let nothing start, pause instead: \"paused\": true");
        if (refusal) return refusal;
    }
    if (rule.rate) {
        if (auto refusal = check_rate(rule)) return refusal;
    }
    if (rule.has_meter() || rule.paused || rule.kind == LimitKind::quota) return std::nullopt;
    return refuse("max_active", "the rule bounds nothing: give max_active, rate, or paused");
}

std::optional<Error> check_quota(const LimitRule& rule) {
    const LimitScope& scope = rule.scope;
    if (!rule.profile.empty() && !scope.tenant.empty()) {
        return refuse("profile", "and tenant cannot both be given: a profile has its own tenants");
    }
    if (auto refusal = check_name("profile", rule.profile)) return refusal;
    if (is_prefix(scope.tenant)) {
        return refuse("tenant", "of a quota is one tenant, or left out for the default of all");
    }
    for (const auto& [field, value] :
         {std::pair{"queue", &scope.queue}, std::pair{"source", &scope.source}}) {
        if (!value->empty()) return refuse(field, "is not part of a quota; add a limit instead");
    }
    if (!rule.has_meter() && !rule.paused) {
        return refuse("max_active",
                      "the quota bounds nothing: give max_active, max_per_hour, or paused");
    }
    return std::nullopt;
}

std::optional<Error> check_parts(const LimitRule& rule) {
    if (auto refusal = check_name("name", rule.name)) return refusal;
    if (auto refusal = check_scope(rule.scope)) return refusal;
    if (auto refusal = check_bounds(rule)) return refusal;
    return rule.kind == LimitKind::quota ? check_quota(rule) : std::nullopt;
}

// A field of a rule that is too large is refused like one that is wrong.
Error as_invalid(Error error) {
    if (error.code == ErrorCode::too_large) error.code = ErrorCode::invalid;
    return error;
}

}  // namespace

std::optional<Error> check_reason(const ChangeReason& why) {
    if (auto refusal = check_reason_text("reason", why.reason)) return refusal;
    return check_ticket_text("ticket", why.ticket.value_or(""));
}

std::optional<Error> check_rule(const LimitRule& rule, Timestamp now) {
    auto refusal = check_parts(rule);
    if (refusal) return as_invalid(*std::move(refusal));
    if (rule.until && *rule.until <= now) return refuse("until", "must be in the future");
    return std::nullopt;
}

std::optional<Error> check_profile_tenants(std::vector<std::string>& tenants) {
    for (std::size_t i = 0; i < std::min(tenants.size(), limits::tenants_of_profile); ++i) {
        const std::string pointer = fmt::format("tenants/{}", i);
        if (auto refusal = check_tenant(pointer, tenants[i])) return as_invalid(*refusal);
    }
    auto refusal = check_list("tenants", tenants, limits::tenants_of_profile);
    return refusal ? std::optional(as_invalid(*refusal)) : std::nullopt;
}

}  // namespace sluice
