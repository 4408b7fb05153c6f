#include "application/limits/run_limit_changes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/entities/entity_changes.hpp"
#include "application/limits/control_history.hpp"
#include "application/limits/limits_now.hpp"
#include "application/limits/stored_rules.hpp"

namespace sluice {
namespace {

// Whether the rule has a say for a job of the lane: a quota may be replaced by another one.
bool needs_permit_of(const LimitRules& rules, const Lane& lane, const LimitRule& rule) {
    if (!rule.scope.covers(lane)) return false;
    const std::vector<Permit> permits = rules.permits_of(lane);
    return std::any_of(permits.begin(), permits.end(),
                       [&](const Permit& permit) { return permit.rule->id == rule.id; });
}

void warn_of_empty_scopes(const LimitRules& after, std::span<const LaneNow> lanes,
                          LimitAnswer& answer) {
    for (const LimitRule& rule : answer.rules) {
        if (!after.find(rule.id) || rule.configured) continue;
        if (!rule.profile.empty() && !after.profiles().contains(rule.profile)) {
            answer.warnings.push_back(
                fmt::format("no tenant is given the profile {}", rule.profile));
            continue;
        }
        const bool covers_some = std::any_of(lanes.begin(), lanes.end(), [&](const LaneNow& lane) {
            return needs_permit_of(after, lane.lane, rule);
        });
        if (!covers_some) {
            answer.warnings.push_back("no job that waits or runs now is covered by this rule");
        }
    }
}

}  // namespace

Result<LimitAnswer> change_limits(Transaction& tx, const ChangeLimits& change) {
    const std::shared_ptr<const LimitRules> before = tx.limits().limit_rules();
    EntityChanges changes(tx, "anonymous");
    Result<LimitAnswer> answer = change.decide(changes);
    if (answer && changes.refusal()) return *changes.refusal();
    if (!answer) return answer;
    std::vector<EntityKey> changed;
    for (const LimitRule& rule : answer->rules) changed.push_back(limit_key(rule.id));
    for (const std::string& profile : answer->profiles) changed.push_back(profile_key(profile));
    if (changed.empty() && !changes.has_any()) return answer;
    const auto after = with_changes(changes.looks(), *before, changed, before->version() + 1);
    const std::vector<LaneNow> lanes = tx.limits().lanes(waiting_counted_max + 1);
    answer->effect = effect_of(*before, *after, lanes, tx.limits(), tx.now(), change.only_tenant);
    warn_of_empty_scopes(*after, lanes, *answer);
    if (change.dry_run || !changes.has_any()) return answer;
    changes.apply();
    tx.limits().rules_written(tx.now());
    return answer;
}

MeterDifferences check_meters(Transaction& tx, const CheckMeters& check) {
    MeterDifferences differences = tx.limits().check_meters(check.repair);
    if (!check.repair || differences.empty()) return differences;
    EntityChanges changes(tx, check.actor);
    const auto refusal =
        note_repair(changes, differences, {check.actor, check.reason, check.ticket});
    if (refusal) return differences;  // a damaged history does not keep meters from being right
    changes.apply();
    tx.limits().rules_written(tx.now());
    return differences;
}

}  // namespace sluice
