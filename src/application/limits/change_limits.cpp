#include "application/limits/change_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/limits/control_history.hpp"
#include "application/limits/stored_rules.hpp"
#include "application/toolkit/names.hpp"
#include "json/json_values.hpp"

namespace sluice {
namespace {

bool is_same_quota(const LimitRule& a, const LimitRule& b) {
    return b.kind == LimitKind::quota && a.id != b.id && a.scope == b.scope &&
           a.profile == b.profile;
}

std::optional<Error> refuse_second_quota(EntityChanges& changes, const LimitRule& rule) {
    if (rule.kind != LimitKind::quota) return std::nullopt;
    const std::shared_ptr<const LimitRules> rules = changes.limit_rules();
    for (const LimitRule& other : rules->all()) {
        if (!is_same_quota(rule, other)) continue;
        return Error{
            ErrorCode::conflict,
            fmt::format("there is one for the same jobs: {}. Change that one", describe(other)),
            ""};
    }
    return std::nullopt;
}

// Names tell the rules of a tenant apart for people, and those for all tenants. A rule that had its
// name before names were unique keeps it.
std::optional<Error> refuse_known_name(EntityChanges& changes, const LimitRule& rule,
                                       const std::string& known_name) {
    if (rule.name.empty() || rule.name == known_name) return std::nullopt;
    const std::shared_ptr<const LimitRules> rules = changes.limit_rules();
    for (const LimitRule& other : rules->all()) {
        const bool is_same = other.name == rule.name && other.id != rule.id &&
                             other.scope.tenant == rule.scope.tenant &&
                             (other.kind == rule.kind || other.configured);
        if (!is_same || other.is_over(changes.now())) continue;
        return Error{ErrorCode::conflict,
                     fmt::format("there is a rule \"{}\" already: {} {}{}. Choose another name",
                                 rule.name, to_text(other.kind), other.id,
                                 other.configured ? ", of the configuration" : ""),
                     ""};
    }
    return std::nullopt;
}

void write_reason(LimitRule& rule, const ChangeReason& why) {
    rule.actor = why.actor;
    rule.reason = why.reason;
    if (why.ticket) rule.ticket = *why.ticket;
}

// Of a pause the reason is all that people are told, so that another one is a change.
bool changes_nothing(const LimitRule& stored, LimitRule wanted) {
    wanted.since = stored.since;
    wanted.revision = stored.revision;
    wanted.actor = stored.actor;
    if (!is_pause(wanted)) wanted.reason = stored.reason;
    return wanted == stored;
}

Result<LimitAnswer> add_rule(EntityChanges& changes, LimitRule rule, const ChangeReason& why) {
    if (std::ssize(changes.limit_rules()->all()) >= limits::rules) {
        return Error{ErrorCode::conflict, fmt::format("there are {} rules already", limits::rules),
                     ""};
    }
    if (auto refusal = refuse_second_quota(changes, rule)) return *std::move(refusal);
    if (auto refusal = refuse_known_name(changes, rule, "")) return *std::move(refusal);
    write_reason(rule, why);
    const Attributes attributes = attributes_of(rule);
    auto created = changes.create({.key = limit_key(rule.id), .attributes = attributes});
    if (!created) return created.error();
    auto refusal = note_change(
        changes, {.action = "rule_added", .id = created->key.id, .after = &attributes}, why);
    if (refusal) return *std::move(refusal);
    return LimitAnswer{.rules = {read_rule(*created)}, .is_new = true};
}

Error no_such_rule(const std::string& id) {
    return {ErrorCode::not_found, fmt::format("there is no rule {}", id), ""};
}

Result<LimitAnswer> change_rule(EntityChanges& changes, Entity entity, LimitRule rule,
                                const ChangeReason& why) {
    const LimitRule stored = read_rule(entity);
    if (auto refusal = refuse_second_quota(changes, rule)) return *std::move(refusal);
    if (auto refusal = refuse_known_name(changes, rule, stored.name)) return *std::move(refusal);
    write_reason(rule, why);
    if (changes_nothing(stored, rule)) {
        return LimitAnswer{.rules = {stored},
                           .warnings = {"nothing differs: the rule and its reason stay as they "
                                        "are"}};
    }
    const Attributes before = std::exchange(entity.attributes, attributes_of(rule));
    const Attributes after = entity.attributes;
    changes.save(entity);
    if (changes.refusal()) return *changes.refusal();
    auto refusal = note_change(
        changes, {.action = "rule_changed", .id = rule.id, .before = &before, .after = &after},
        why);
    if (refusal) return *std::move(refusal);
    return LimitAnswer{.rules = {read_rule(entity)}};
}

std::optional<Error> lift(EntityChanges& changes, Entity& entity, const ChangeReason& why) {
    const Attributes before = entity.attributes;
    changes.move(entity, "lift");
    if (changes.refusal()) return changes.refusal();
    return note_change(changes, {.action = "rule_lifted", .id = entity.key.id, .before = &before},
                       why);
}

// The profile, when it is in force.
std::optional<Entity> profile_in_force(const std::optional<Entity>& stored) {
    return stored && stored->state == "active" ? stored : std::nullopt;
}

// Writes the profile; without tenants it ends.
std::optional<Error> write_profile(EntityChanges& changes, Entity& profile,
                                   const Attributes& attributes, bool ends) {
    profile.attributes = attributes;
    const bool is_active = profile.state == "active";
    if (ends == is_active) {
        changes.move(profile, is_active ? "lift" : "renew");
    } else {
        changes.save(profile);
    }
    return changes.refusal();
}

}  // namespace

Result<LimitAnswer> put_rule(EntityChanges& changes, LimitRule rule, const ChangeReason& why) {
    if (auto refusal = check_reason(why)) return *std::move(refusal);
    if (auto refusal = check_rule(rule, changes.now())) return *std::move(refusal);
    changes.act_as(why.actor);
    if (rule.id.empty()) return add_rule(changes, std::move(rule), why);
    std::optional<Entity> stored = changes.find(limit_key(rule.id));
    if (!stored || stored->state != "active") return no_such_rule(rule.id);
    if (read_rule(*stored).configured) {
        return Error{ErrorCode::conflict, "the rule comes from the configuration: change it there",
                     ""};
    }
    return change_rule(changes, *std::move(stored), std::move(rule), why);
}

Result<LimitAnswer> lift_rule(EntityChanges& changes, const std::string& id,
                              const ChangeReason& why) {
    if (auto refusal = check_reason(why)) return *std::move(refusal);
    changes.act_as(why.actor);
    std::optional<Entity> stored = changes.find(limit_key(id));
    if (!stored) return no_such_rule(id);
    if (stored->state != "active") return LimitAnswer{.rules = {read_rule(*stored)}};
    if (auto refusal = lift(changes, *stored, why)) return *std::move(refusal);
    LimitAnswer answer{.rules = {read_rule(*stored)}};
    if (answer.rules.front().configured) {
        answer.warnings.push_back(
            "the rule comes from the configuration, whose next revision brings it back");
    }
    return answer;
}

Result<LimitAnswer> put_profile(EntityChanges& changes, const std::string& name,
                                std::vector<std::string> tenants, const ChangeReason& why,
                                const CheckRevision& check_revision) {
    if (auto refusal = check_reason(why)) return *std::move(refusal);
    if (name.empty()) return refuse("profile", "must not be empty");
    if (auto refusal = check_path_id("profile", name)) return *std::move(refusal);
    if (auto refusal = check_profile_tenants(tenants)) return *std::move(refusal);
    changes.act_as(why.actor);
    std::optional<Entity> stored = changes.find(profile_key(name));
    const std::optional<Entity> known = profile_in_force(stored);
    if (check_revision) {
        auto refusal = check_revision(known ? std::optional(known->revision) : std::nullopt);
        if (refusal) return *std::move(refusal);
    }
    if (known && truth_of(known->attributes, "configured").value_or(false)) {
        return Error{ErrorCode::conflict,
                     "the profile comes from the configuration: change it there", ""};
    }
    LimitAnswer answer{.profile = name, .tenants = tenants, .profiles = {name}};
    if ((known ? texts_of(known->attributes, "tenants") : std::vector<std::string>()) == tenants) {
        if (known) answer.revision = known->revision;
        answer.warnings.push_back("nothing differs: the profile stays as it is");
        return answer;
    }
    const Attributes after{{"tenants", json_list(tenants)}};
    if (!stored) {
        auto created = changes.create({.key = profile_key(name), .attributes = after});
        if (!created) return created.error();
        stored = *std::move(created);
    } else if (auto refusal = write_profile(changes, *stored, after, tenants.empty())) {
        return *std::move(refusal);
    }
    auto refusal = note_change(changes,
                               {.action = "profile_changed",
                                .subject = "profile",
                                .id = name,
                                .before = known ? &known->attributes : nullptr,
                                .after = tenants.empty() ? nullptr : &after},
                               why);
    if (refusal) return *std::move(refusal);
    if (!tenants.empty()) answer.revision = stored->revision;
    return answer;
}

}  // namespace sluice
