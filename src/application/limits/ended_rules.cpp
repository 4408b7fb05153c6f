#include "application/limits/ended_rules.hpp"

#include "application/entities/entity_changes.hpp"
#include "application/limits/change_limits.hpp"
#include "application/limits/stored_rules.hpp"

namespace sluice {

Timestamp next_end(const LimitRules& rules) {
    Timestamp next = never;
    for (const LimitRule& rule : rules.all()) next = std::min(next, rule.until.value_or(never));
    return next;
}

int lift_ended_rules(Transaction& tx, int limit) {
    const std::shared_ptr<const LimitRules> rules = tx.limits().limit_rules();
    const ChangeReason why{.actor = engine_actor, .reason = "its end has come"};
    EntityChanges changes(tx, engine_actor);
    int lifted = 0;
    for (const LimitRule& known : rules->all()) {
        if (lifted == limit) break;
        if (!known.is_to_be_lifted(tx.now())) continue;
        const std::optional<Entity> stored = changes.find(limit_key(known.id));
        if (!stored || stored->state != "active") continue;
        if (!read_rule(*stored).is_to_be_lifted(tx.now())) continue;
        if (lift_rule(changes, known.id, why)) ++lifted;
    }
    if (!changes.has_any()) return 0;
    changes.apply();
    tx.limits().rules_written(tx.now());
    return lifted;
}

}  // namespace sluice
