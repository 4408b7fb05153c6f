#include "domain/limits/limit_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "domain/values/canonical.hpp"
#include "domain/values/sha256.hpp"

namespace sluice {
namespace {

MeterId meter_id(const LimitRule& rule, const Lane& lane) {
    Canonical form("sluice meter");
    form.add(std::string_view(rule.id));
    for (const Dimension dimension : all_dimensions) {
        if (!rule.per.has(dimension)) continue;
        form.add(to_text(dimension));
        form.add(std::string_view(value_of(lane, dimension)));
    }
    const Digest digest = sha256(form.text());
    std::uint64_t id = 0;
    for (std::size_t i = 0; i < sizeof id; ++i) id = id << 8 | digest[i];
    return static_cast<MeterId>(id);
}

std::string profile_key(std::string_view profile) {
    return '@' + std::string(profile);
}

bool names_a_tenant(const LimitRule& rule) {
    return !rule.scope.tenant.empty() && !is_prefix(rule.scope.tenant);
}

}  // namespace

Permit permit_of(const LimitRule& rule, const Lane& lane) {
    return {&rule, rule.has_meter() ? meter_id(rule, lane) : 0};
}

std::string meter_name(const LimitRule& rule, const Lane& lane) {
    std::string name;
    for (const Dimension dimension : all_dimensions) {
        if (!rule.per.has(dimension)) continue;
        if (!name.empty()) name += ", ";
        const std::string& value = value_of(lane, dimension);
        name += fmt::format("{} {}", to_text(dimension), value.empty() ? "(none)" : value);
    }
    return name;
}

LimitRules::LimitRules(std::int64_t version, std::vector<LimitRule> rules, Profiles profiles)
    : version_(version), rules_(std::move(rules)), profiles_(std::move(profiles)) {
    std::sort(rules_.begin(), rules_.end(), [](const LimitRule& a, const LimitRule& b) {
        return std::tie(a.kind, a.id) < std::tie(b.kind, b.id);
    });
    for (const auto& [profile, tenants] : profiles_) {
        for (const std::string& tenant : tenants) profiles_of_tenant_[tenant].insert(profile);
    }
    for (const LimitRule& rule : rules_) {
        by_id_.emplace(rule.id, &rule);
        if (rule.kind == LimitKind::quota) {
            const std::string whose =
                rule.profile.empty() ? rule.scope.tenant : profile_key(rule.profile);
            quotas_[rule.scope.type][whose] = &rule;
        } else if (names_a_tenant(rule)) {
            by_tenant_[rule.scope.tenant].push_back(&rule);
        } else {
            general_.push_back(&rule);
        }
    }
}

const std::shared_ptr<const LimitRules>& LimitRules::none() {
    static const auto rules = std::make_shared<const LimitRules>();
    return rules;
}

const LimitRule* LimitRules::find(std::string_view id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
}

bool LimitRules::is_about(const LimitRule& rule, std::string_view tenant) const {
    if (!covers(rule.scope.tenant, tenant)) return false;
    if (rule.profile.empty()) return true;
    const auto given = profiles_of_tenant_.find(tenant);
    return given != profiles_of_tenant_.end() && given->second.contains(rule.profile);
}

bool LimitRules::names_source(std::string_view tenant, std::string_view source) const {
    return std::any_of(rules_.begin(), rules_.end(), [&](const LimitRule& rule) {
        return rule.scope.source == source && !is_prefix(rule.scope.source) &&
               covers(rule.scope.tenant, tenant);
    });
}

// `type` is that of the quota: a job type, a beginning of job types, or empty for all together.
const LimitRule* LimitRules::quota_for(std::string_view tenant, std::string_view type) const {
    const auto& whose = quotas_.find(type)->second;
    if (const auto own = whose.find(tenant); own != whose.end() && !tenant.empty()) {
        return own->second;
    }
    if (const auto given = profiles_of_tenant_.find(tenant); given != profiles_of_tenant_.end()) {
        for (const std::string& profile : given->second) {
            const auto quota = whose.find(profile_key(profile));
            if (quota != whose.end()) return quota->second;
        }
    }
    const auto general = whose.find("");
    return general == whose.end() ? nullptr : general->second;
}

void LimitRules::add_quotas(const Lane& lane, std::vector<Permit>& permits) const {
    const auto add = [&](const auto& of_type) {
        if (const LimitRule* rule = quota_for(lane.tenant, of_type->first)) {
            permits.push_back(permit_of(*rule, lane));
        }
    };
    for (auto of_type = quotas_.begin(); of_type != quotas_.end(); ++of_type) {
        if (covers(of_type->first, lane.type)) add(of_type);
    }
}

std::vector<Permit> LimitRules::permits_of(const Lane& lane) const {
    std::vector<Permit> permits;
    const auto add = [&](const std::vector<const LimitRule*>& rules) {
        for (const LimitRule* rule : rules) {
            if (rule->scope.covers(lane)) permits.push_back(permit_of(*rule, lane));
        }
    };
    add(general_);
    if (const auto own = by_tenant_.find(lane.tenant); own != by_tenant_.end()) add(own->second);
    add_quotas(lane, permits);
    std::sort(permits.begin(), permits.end(),
              [](const Permit& a, const Permit& b) { return a.rule < b.rule; });
    return permits;
}

template <class Wanted>
const LimitRule* LimitRules::longest_halt(std::string_view tenant, Timestamp now,
                                          Wanted&& wanted) const {
    const LimitRule* longest = nullptr;
    const auto look_at = [&](const std::vector<const LimitRule*>& rules) {
        for (const LimitRule* rule : rules) {
            if (rule->kind > LimitKind::block) break;  // they are in the order of kinds
            const bool holds =
                wanted(*rule) && covers(rule->scope.tenant, tenant) && !rule->is_over(now);
            if (holds && (!longest || longest->over_at() < rule->over_at())) longest = rule;
        }
    };
    look_at(general_);
    if (const auto own = by_tenant_.find(tenant); own != by_tenant_.end()) look_at(own->second);
    return longest;
}

const LimitRule* LimitRules::refuses_submits(std::string_view tenant, Timestamp now) const {
    return longest_halt(tenant, now, [](const LimitRule& rule) { return rule.refuses_submits; });
}

const LimitRule* LimitRules::maintenance(std::string_view tenant, Timestamp now) const {
    return longest_halt(tenant, now,
                        [](const LimitRule& rule) { return rule.kind == LimitKind::maintenance; });
}

// ── decisions ──

void follow_rate(std::string_view rule, const LimitRules& before, const LimitRules& after,
                 MeterState& meter, Timestamp now) {
    const LimitRule* const former = before.find(rule);
    const LimitRule* const present = after.find(rule);
    if (former == nullptr || present == nullptr || !former->rate || !present->rate) return;
    // A bucket that owes tokens would be emptied once more.
    if (*former->rate == *present->rate) return;
    follow_rate(*former->rate, *present->rate, meter, now);
}

Admission admission_of(std::span<const Permit> permits, std::span<const MeterState* const> meters,
                       Timestamp now) {
    Admission admission;
    for (std::size_t i = 0; i < permits.size(); ++i) {
        const Room room = room_of(*permits[i].rule, *meters[i], now);
        if (room.count > 0) {
            if (admission.count > 0) admission.count = std::min(admission.count, room.count);
            continue;
        }
        const bool is_first = admission.count > 0;
        if (is_first) admission.closed_by = i;
        admission.look_again =
            is_first ? room.look_again : std::max(admission.look_again, room.look_again);
        admission.count = 0;
    }
    return admission;
}

std::vector<ClosedPermit> closed_permits(const Lane& lane, std::span<const Permit> permits,
                                         std::span<const MeterState> meters, Timestamp now) {
    std::vector<ClosedPermit> closed;
    for (std::size_t i = 0; i < permits.size(); ++i) {
        const LimitRule& rule = *permits[i].rule;
        const Room room = room_of(rule, meters[i], now);
        if (room.count > 0) continue;
        closed.push_back({&rule, meter_name(rule, lane), meters[i], room});
    }
    return closed;
}

std::optional<Timestamp> next_eligible_at(std::span<const ClosedPermit> closed) {
    std::optional<Timestamp> at;
    for (const ClosedPermit& permit : closed) {
        if (permit.room.not_before && (!at || *at < *permit.room.not_before)) {
            at = permit.room.not_before;
        }
    }
    return at;
}

std::string_view code_of(const ClosedPermit& closed) {
    switch (closed.rule->kind) {
        case LimitKind::maintenance: return "maintenance";
        case LimitKind::block: return "tenant_blocked";
        default: break;
    }
    switch (closed.room.bound) {
        case Bound::pause: return "paused";
        case Bound::rate:
        case Bound::hour: return "rate_limit";
        case Bound::active: break;
    }
    return to_text(closed.rule->kind);
}

namespace {

bool is_about_all(const LimitRule& rule) {
    return rule.scope == LimitScope{} && rule.profile.empty();
}

std::string scope_text(const LimitRule& rule) {
    if (is_about_all(rule)) return "all jobs";
    std::string text;
    for (const Dimension dimension : all_dimensions) {
        const std::string& pattern = rule.scope.pattern(dimension);
        if (pattern.empty()) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} {}", to_text(dimension), pattern);
    }
    if (!rule.profile.empty()) {
        text = fmt::format("profile {}{}{}", rule.profile, text.empty() ? "" : ", ", text);
    }
    return text;
}

// "throttle by ops-lead, ticket OPS-7, until 14:00: why".
std::string origin_text(const LimitRule& rule) {
    std::string text(to_text(rule.kind));
    if (!rule.name.empty()) text += fmt::format(" \"{}\"", rule.name);
    if (rule.configured) {
        text += " of the configuration";
    } else if (!rule.actor.empty()) {
        text += fmt::format(" by {}", rule.actor);
    }
    if (!rule.ticket.empty()) text += fmt::format(", ticket {}", rule.ticket);
    if (rule.until) text += fmt::format(", until {}", to_rfc3339(*rule.until));
    if (!rule.reason.empty()) text += fmt::format(": {}", rule.reason);
    return text;
}

std::string use_text(const ClosedPermit& closed, const std::string& whose) {
    return fmt::format("{} of {} active for {}", closed.state.active, *closed.rule->max_active,
                       whose);
}

// How many run is not told.
std::string taken_text(std::int64_t max, const std::string& whose) {
    if (max == 1) return fmt::format("the only permit for {} is taken", whose);
    return fmt::format("all {} permits for {} are taken", max, whose);
}

std::string opening_text(const ClosedPermit& closed, bool is_use_told) {
    const Room& room = closed.room;
    if (room.bound == Bound::active) {
        if (!is_use_told) return "opens when one is given back";
        const std::int64_t too_many = closed.state.active - *closed.rule->max_active + 1;
        if (too_many == 1) return "opens when one of them ends";
        return fmt::format("opens when {} of them have ended", too_many);
    }
    const bool is_endless_pause = room.bound == Bound::pause && !closed.rule->until;
    if (is_endless_pause || !room.not_before) return "opens when it is lifted";
    const bool is_by_time_alone = room.look_again <= *room.not_before;
    return fmt::format("{} {}", is_by_time_alone ? "opens at" : "does not open before",
                       to_rfc3339(*room.not_before));
}

std::string period_text(Duration period) {
    using namespace std::chrono_literals;
    if (period == 1s) return "second";
    if (period == 1min) return "minute";
    if (period == 1h) return "hour";
    return fmt::format("{} ms", to_millis(period));
}

// "5 starts per hour (1 at once)".
std::string text_of(const LimitRate& rate) {
    return fmt::format("{} {} per {} ({} at once)", rate.count,
                       rate.count == 1 ? "start" : "starts", period_text(rate.period), rate.burst);
}

}  // namespace

std::string describe(const LimitRule& rule) {
    return fmt::format("{} {} for {}", to_text(rule.kind), rule.id, scope_text(rule));
}

bool counts_one_tenant(const LimitRule& rule) {
    return rule.per.has(Dimension::tenant) || names_a_tenant(rule);
}

std::string text_of(const ClosedPermit& closed, Viewer viewer) {
    const LimitRule& rule = *closed.rule;
    const bool is_use_told = viewer == Viewer::any_tenant || counts_one_tenant(rule);
    const std::string whose = closed.meter.empty() ? scope_text(rule) : closed.meter;
    std::string what;
    switch (closed.room.bound) {
        case Bound::pause:
            what = fmt::format("{} {} {}", scope_text(rule), is_about_all(rule) ? "are" : "is",
                               rule.kind == LimitKind::block ? "blocked" : "paused");
            break;
        case Bound::active:
            what = is_use_told ? use_text(closed, whose) : taken_text(*rule.max_active, whose);
            break;
        case Bound::rate:
            what = fmt::format("the rate of {} is used up for {}", text_of(*rule.rate), whose);
            break;
        case Bound::hour:
            what = fmt::format("{} starts in the last hour for {} are all that it may have",
                               rule.rate->count, whose);
            break;
    }
    return fmt::format("{} ({}); {}", what, origin_text(rule), opening_text(closed, is_use_told));
}

}  // namespace sluice
