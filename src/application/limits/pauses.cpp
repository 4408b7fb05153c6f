#include "application/limits/pauses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace sluice {
namespace {

constexpr std::size_t tenants_named = 10;

bool is_of_same_pause(const LimitRule& rule, const WhichPause& which) {
    return is_pause(rule) && rule.kind == which.kind && rule.scope.source == which.source &&
           rule.scope.type.empty() && rule.scope.queue.empty();
}

// "acme, globex and 3 more"
std::string list_text(const std::vector<std::string>& names) {
    const std::size_t shown = std::min(names.size(), tenants_named);
    std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
    if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

// For whom there is a pause of this kind, as far as the caller may know.
struct OthersPaused {
    bool all = false;
    std::vector<std::string> tenants{};

    std::string tenants_text() const {
        return fmt::format("tenant{} {}", tenants.size() == 1 ? "" : "s", list_text(tenants));
    }
    bool is_one() const { return tenants.size() == 1; }
};

OthersPaused others_paused(const LimitRules& rules, const WhichPause& which, Timestamp now,
                           const SeesTenant& sees) {
    OthersPaused others;
    for (const LimitRule& rule : rules.all()) {
        if (!is_of_same_pause(rule, which) || rule.is_over(now)) continue;
        const std::string& tenant = rule.scope.tenant;
        if (tenant.empty()) {
            others.all = true;
        } else if (sees(tenant)) {
            others.tenants.push_back(tenant);
        }
    }
    std::sort(others.tenants.begin(), others.tenants.end());
    return others;
}

std::string no_such_source_pause(const WhichPause& which, const OthersPaused& others) {
    const bool is_any = others.all || !others.tenants.empty();
    const std::string what = fmt::format("source {} is not paused", which.source);
    if (!which.tenant.empty()) {
        if (!is_any) return fmt::format("{} for tenant {}", what, which.tenant);
        return fmt::format("{} for tenant {}; it is paused for {}", what, which.tenant,
                           others.all ? "all tenants" : others.tenants_text());
    }
    return is_any
               ? fmt::format("{} for all tenants; it is paused for {}", what, others.tenants_text())
               : what;
}

std::string no_such_maintenance(const WhichPause& which, const OthersPaused& others) {
    const std::string what = which.tenant.empty()
                                 ? "the engine is not in maintenance"
                                 : fmt::format("tenant {} is not in maintenance", which.tenant);
    if (others.all) return what + "; the whole engine is";
    if (others.tenants.empty()) return what;
    return fmt::format("{}; {} {}", what, others.tenants_text(), others.is_one() ? "is" : "are");
}

std::string no_such_block(const WhichPause& which, const OthersPaused& others) {
    const std::string what = fmt::format("tenant {} is not blocked", which.tenant);
    if (others.tenants.empty()) return what;
    return fmt::format("{}; {} {}", what, others.tenants_text(), others.is_one() ? "is" : "are");
}

std::string no_such_pause(const WhichPause& which, const OthersPaused& others) {
    switch (which.kind) {
        case LimitKind::maintenance: return no_such_maintenance(which, others);
        case LimitKind::block: return no_such_block(which, others);
        case LimitKind::throttle:
        case LimitKind::quota:
        case LimitKind::limit: break;
    }
    return no_such_source_pause(which, others);
}

const LimitRule* known_pause(const LimitRules& rules, const LimitRule& wanted) {
    const auto found =
        std::find_if(rules.all().begin(), rules.all().end(), [&](const LimitRule& known) {
            return is_pause(known) && known.kind == wanted.kind && known.scope == wanted.scope &&
                   !known.configured;
        });
    return found == rules.all().end() ? nullptr : &*found;
}

}  // namespace

bool is_pause(const LimitRule& rule) {
    return rule.paused && !rule.has_meter();
}

// One whose end has come is not in force any more, though nobody has lifted it yet: nothing of it
// stays but its id.
Result<LimitAnswer> put_pause(EntityChanges& changes, LimitRule rule, const ChangeReason& why,
                              NamedOfPause named, const CheckRevision& check_revision) {
    rule.paused = true;
    const std::shared_ptr<const LimitRules> rules = changes.limit_rules();
    const LimitRule* const known = known_pause(*rules, rule);
    const bool is_in_force = known && !known->is_over(changes.now());
    if (known) {
        rule.id = known->id;
        rule.name = known->name;
    }
    if (is_in_force) {
        rule.ticket = known->ticket;
        if (!named.until) rule.until = known->until;
        if (!named.submits) rule.refuses_submits = known->refuses_submits;
    }
    if (check_revision) {
        auto refusal = check_revision(is_in_force ? std::optional(known->revision) : std::nullopt);
        if (refusal) return *std::move(refusal);
    }
    return put_rule(changes, std::move(rule), why);
}

Result<LimitAnswer> end_pauses(EntityChanges& changes, const WhichPause& which,
                               const ChangeReason& why, const SeesTenant& sees,
                               const CheckRevision& check_revision) {
    const auto is_meant = [&](const LimitRule& rule) {
        return is_of_same_pause(rule, which) && rule.scope.tenant == which.tenant;
    };
    const OthersPaused others = others_paused(*changes.limit_rules(), which, changes.now(), sees);
    return lift_pauses(changes, is_meant, why, no_such_pause(which, others), check_revision);
}

Result<LimitAnswer> lift_pauses(EntityChanges& changes, const IsMeant& is_meant,
                                const ChangeReason& why, std::string none,
                                const CheckRevision& check_revision) {
    if (auto refusal = check_reason(why)) return *std::move(refusal);
    LimitAnswer all;
    const std::shared_ptr<const LimitRules> rules = changes.limit_rules();
    for (const LimitRule& rule : rules->all()) {
        if (!is_pause(rule) || !is_meant(rule)) continue;
        if (check_revision) {
            if (auto refusal = check_revision(rule.revision)) return *std::move(refusal);
        }
        auto lifted = lift_rule(changes, rule.id, why);
        if (!lifted) return lifted.error();
        std::move(lifted->rules.begin(), lifted->rules.end(), std::back_inserter(all.rules));
        std::move(lifted->warnings.begin(), lifted->warnings.end(),
                  std::back_inserter(all.warnings));
    }
    if (all.rules.empty()) return Error{ErrorCode::not_found, std::move(none), ""};
    return all;
}

}  // namespace sluice
