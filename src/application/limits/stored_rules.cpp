#include "application/limits/stored_rules.hpp"

#include <algorithm>
#include <set>

#include "application/entities/entity_requests.hpp"
#include "application/limits/control_history.hpp"
#include "json/json_values.hpp"

namespace sluice {
namespace {

constexpr std::string_view own_tenant = "@sluice";
constexpr std::string_view rule_kind = "limit";
constexpr std::string_view profile_kind = "limit_profile";
constexpr std::string_view control_kind = "limit_control";
constexpr int page = 1000;
// After more changes than this all rules are read.
constexpr int changes_max = 200;

void add_text(Attributes& attributes, const char* name, const std::string& text) {
    if (!text.empty()) attributes[name] = json_string(text);
}

void add_flag(Attributes& attributes, const char* name, bool flag) {
    if (flag) attributes[name] = "true";
}

std::string text_or_empty(const Attributes& attributes, std::string_view name) {
    return text_of(attributes, name).value_or("");
}

template <class Use>
void for_each_entity(EntityReader& entities, const EntityFilter& filter, Use&& use) {
    std::int64_t before = newest_entity;
    for (;;) {
        const std::vector<Entity> some = entities.list(filter, before, 0, page);
        for (const Entity& entity : some) use(entity);
        if (std::ssize(some) < page) return;
        before = some.back().number;
    }
}

EntityFilter filter_of(std::string_view kind) {
    return {.tenant = std::string(own_tenant), .kind = std::string(kind), .states = {"active"}};
}

std::shared_ptr<const LimitRules> load_all(EntityReader& entities, std::int64_t version) {
    std::vector<LimitRule> rules;
    for_each_entity(entities, filter_of(rule_kind),
                    [&](const Entity& entity) { rules.push_back(read_rule(entity)); });
    LimitRules::Profiles profiles;
    for_each_entity(entities, filter_of(profile_kind), [&](const Entity& entity) {
        profiles[entity.key.id] = texts_of(entity.attributes, "tenants");
    });
    return std::make_shared<const LimitRules>(version, std::move(rules), std::move(profiles));
}

// The entities that these events of the control history have changed; nothing: not all are named.
std::optional<std::vector<EntityKey>> changed_by(const std::vector<EntityEvent>& events) {
    std::set<EntityKey> keys;
    for (const EntityEvent& event : events) {
        if (event.action == meters_repaired) continue;
        const Attributes detail = json_members(event.detail);
        if (const auto rule = text_of(detail, "rule")) {
            keys.insert(limit_key(*rule));
        } else if (const auto profile = text_of(detail, "profile")) {
            keys.insert(profile_key(*profile));
        } else {
            return std::nullopt;
        }
    }
    return std::vector(keys.begin(), keys.end());
}

void declare(JobTypes& /*types*/, EntityKinds& kinds) {
    for (const std::string_view kind : {rule_kind, profile_kind}) {
        kinds.put(
            {.name = std::string(kind),
             .initial = "active",
             .transitions = {{"lift", {"active"}, "lifted"}, {"renew", {"lifted"}, "active"}}});
    }
    kinds.put(EntityKind::record(std::string(control_kind)));
}

std::optional<Error> refuse_change(EntityChanges& /*changes*/, const EntityKey& key,
                                   const std::string& /*parent*/) {
    const bool is_ours =
        key.kind == rule_kind || key.kind == profile_kind || key.kind == control_kind;
    return is_ours ? std::optional(only_admins_change(key)) : std::nullopt;
}

}  // namespace

EntityKey limit_key(std::string_view id) {
    return {std::string(own_tenant), std::string(rule_kind), std::string(id)};
}

EntityKey profile_key(std::string_view name) {
    return {std::string(own_tenant), std::string(profile_kind), std::string(name)};
}

EntityKey control_key() {
    return {std::string(own_tenant), std::string(control_kind), "limits"};
}

Attributes attributes_of(const LimitRule& rule) {
    Attributes attributes{{"kind", json_string(to_text(rule.kind))}};
    add_text(attributes, "name", rule.name);
    add_text(attributes, "profile", rule.profile);
    for (const Dimension dimension : all_dimensions) {
        add_text(attributes, std::string(to_text(dimension)).c_str(),
                 rule.scope.pattern(dimension));
    }
    std::vector<std::string> per;
    for (const Dimension dimension : all_dimensions) {
        if (rule.per.has(dimension)) per.emplace_back(to_text(dimension));
    }
    if (!per.empty()) attributes["per"] = json_list(per);
    if (rule.max_active) attributes["max_active"] = std::to_string(*rule.max_active);
    if (rule.rate) {
        attributes["rate_count"] = std::to_string(rule.rate->count);
        attributes["rate_period_ms"] = std::to_string(to_millis(rule.rate->period));
        attributes["rate_burst"] = std::to_string(rule.rate->burst);
        add_flag(attributes, "rate_whole_hour", rule.rate->whole_hour);
    }
    add_flag(attributes, "paused", rule.paused);
    add_flag(attributes, "refuses_submits", rule.refuses_submits);
    add_flag(attributes, "configured", rule.configured);
    if (rule.until) attributes["until"] = json_time(*rule.until);
    add_text(attributes, "reason", rule.reason);
    add_text(attributes, "ticket", rule.ticket);
    add_text(attributes, "actor", rule.actor);
    return attributes;
}

LimitRule read_rule(const Entity& entity) {
    const Attributes& attributes = entity.attributes;
    LimitRule rule{.id = entity.key.id};
    rule.kind = parse_limit_kind(text_or_empty(attributes, "kind")).value_or(LimitKind::limit);
    rule.name = text_or_empty(attributes, "name");
    rule.profile = text_or_empty(attributes, "profile");
    rule.scope = {.tenant = text_or_empty(attributes, "tenant"),
                  .type = text_or_empty(attributes, "type"),
                  .queue = text_or_empty(attributes, "queue"),
                  .source = text_or_empty(attributes, "source")};
    for (const std::string& text : texts_of(attributes, "per")) {
        if (const auto dimension = parse_dimension(text)) rule.per.add(*dimension);
    }
    rule.max_active = integer_of(attributes, "max_active");
    if (const auto count = integer_of(attributes, "rate_count")) {
        rule.rate = LimitRate{
            .count = *count,
            .period = from_millis(integer_of(attributes, "rate_period_ms").value_or(1000)),
            .burst = integer_of(attributes, "rate_burst").value_or(1),
            .whole_hour = truth_of(attributes, "rate_whole_hour").value_or(false)};
    }
    rule.paused = truth_of(attributes, "paused").value_or(false);
    rule.refuses_submits = truth_of(attributes, "refuses_submits").value_or(false);
    rule.configured = truth_of(attributes, "configured").value_or(false);
    rule.until = time_of(attributes, "until");
    rule.reason = text_or_empty(attributes, "reason");
    rule.ticket = text_or_empty(attributes, "ticket");
    rule.actor = text_or_empty(attributes, "actor");
    rule.since = entity.updated_at;
    rule.revision = entity.revision;
    return rule;
}

std::vector<StoredProfile> stored_profiles(EntityReader& entities) {
    std::vector<StoredProfile> profiles;
    for_each_entity(entities, filter_of(profile_kind), [&](const Entity& entity) {
        profiles.push_back(
            {entity.key.id, texts_of(entity.attributes, "tenants"), entity.revision});
    });
    std::sort(profiles.begin(), profiles.end(),
              [](const StoredProfile& a, const StoredProfile& b) { return a.name < b.name; });
    return profiles;
}

std::int64_t rules_version(EntityReader& entities) {
    const std::optional<Entity> control = entities.find_one(control_key());
    return control ? control->revision : 0;
}

std::shared_ptr<const LimitRules> with_changes(EntityReader& entities, const LimitRules& known,
                                               std::span<const EntityKey> changed,
                                               std::int64_t version) {
    std::vector<LimitRule> rules;
    const std::set<EntityKey> keys(changed.begin(), changed.end());
    const auto is_changed = [&](const LimitRule& rule) {
        return keys.contains(limit_key(rule.id));
    };
    std::remove_copy_if(known.all().begin(), known.all().end(), std::back_inserter(rules),
                        is_changed);
    LimitRules::Profiles profiles = known.profiles();
    for (const std::optional<Entity>& entity : entities.find(changed)) {
        if (!entity) continue;
        const bool is_active = entity->state == "active";
        if (entity->key.kind == rule_kind) {
            if (is_active) rules.push_back(read_rule(*entity));
        } else if (is_active) {
            profiles[entity->key.id] = texts_of(entity->attributes, "tenants");
        } else {
            profiles.erase(entity->key.id);
        }
    }
    return std::make_shared<const LimitRules>(version, std::move(rules), std::move(profiles));
}

std::shared_ptr<const LimitRules> load_rules(EntityReader& entities,
                                             const std::shared_ptr<const LimitRules>& known) {
    const std::int64_t version = rules_version(entities);
    if (version == known->version()) return known;
    if (version < known->version() || known->version() == 0) return load_all(entities, version);
    const auto events = entities.events(control_key(), known->version(), changes_max + 1);
    const auto changed = changed_by(events);
    const bool are_all_known = !events.empty() && events.back().seq == version;
    if (!changed || !are_all_known || std::ssize(events) > changes_max) {
        return load_all(entities, version);
    }
    return with_changes(entities, *known, *changed, version);
}

ContractRules limit_contract_rules() {
    return {.declare = declare, .refuse_change = refuse_change};
}

}  // namespace sluice
