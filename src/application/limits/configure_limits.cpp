// The rules of a configuration on their way into the store.
//
//   1. What the store has, of these rules and of former revisions, is read at once.
//   2. Each rule of the configuration is added or changed; a quota that was made by hand for the
//      same jobs ends.
//   3. Rules and profiles of the former revision that are not among these end.
//   4. The event "configured" closes the revision: from then on the same one changes nothing.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "application/limits/control_history.hpp"
#include "application/limits/stored_rules.hpp"
#include "domain/values/canonical.hpp"
#include "json/json_values.hpp"

namespace sluice {

Digest ConfiguredLimits::digest() const {
    Canonical form("sluice limits");
    std::vector<std::string> texts;
    for (const LimitRule& rule : rules) {
        Attributes attributes = attributes_of(rule);
        attributes.erase("actor");
        texts.push_back(to_json(attributes));
    }
    std::sort(texts.begin(), texts.end());
    form.add_all(texts);
    for (const auto& [profile, tenants] : profiles) {
        form.add(std::string_view(profile));
        form.add_all(tenants);
    }
    return sha256(form.text());
}

namespace {

constexpr const char* configuration_actor = "configuration";

// An id that a name in the configuration always has, so that its meters go on at a new revision.
std::string configured_id(const LimitRule& rule) {
    return to_hex(sha256("configured limit " + rule.name)).substr(0, 24);
}

// Writes one revision.
class Configuring {
  public:
    Configuring(EntityChanges& changes, const ConfiguredLimits& wanted)
        : changes_(changes),
          wanted_(wanted),
          rules_(changes.limit_rules()),
          why_{.actor = configuration_actor,
               .reason = fmt::format("revision {} of the configuration", wanted.revision)} {}

    Result<LimitAnswer> run() {
        fetch();
        for (const LimitRule& rule : wanted_.rules) put(rule);
        lift_former_rules();
        for (const auto& [profile, tenants] : wanted_.profiles) put_profile(profile, tenants);
        lift_former_profiles();
        if (changes_.refusal()) return *changes_.refusal();
        return std::move(answer_);
    }

  private:
    void fetch() {
        std::vector<EntityKey> keys;
        for (const LimitRule& rule : wanted_.rules) keys.push_back(limit_key(configured_id(rule)));
        for (const LimitRule& rule : rules_->all()) {
            if (rule.configured) keys.push_back(limit_key(rule.id));
        }
        for (const auto& [profile, tenants] : wanted_.profiles) {
            keys.push_back(profile_key(profile));
        }
        for (const auto& [profile, tenants] : rules_->profiles()) {
            keys.push_back(profile_key(profile));
        }
        changes_.fetch(std::move(keys));
    }

    void put(LimitRule rule) {
        rule.id = configured_id(rule);
        rule.configured = true;
        kept_.insert(rule.id);
        lift_replaced_quotas(rule);
        warn_of_same_name(rule);
        const auto put = write("rule", limit_key(rule.id), attributes_of(rule),
                               {.added = "rule_added", .changed = "rule_changed"});
        if (put) answer_.rules.push_back(read_rule(*put));
    }

    // A quota that was made by hand gives way to one of the configuration for the same jobs: of
    // two, only one would hold.
    void lift_replaced_quotas(const LimitRule& wanted) {
        if (wanted.kind != LimitKind::quota) return;
        for (const LimitRule& other : rules_->all()) {
            const bool is_replaced = other.kind == LimitKind::quota && !other.configured &&
                                     other.scope == wanted.scope && other.profile == wanted.profile;
            if (!is_replaced || !lift(other)) continue;
            answer_.warnings.push_back(
                fmt::format("{}, which {} has made, is lifted: \"{}\" of the "
                            "configuration is for the same jobs",
                            describe(other), other.actor, wanted.name));
        }
    }

    // A file cannot be refused for what somebody has made by hand.
    void warn_of_same_name(const LimitRule& wanted) {
        for (const LimitRule& other : rules_->all()) {
            if (other.configured || other.name != wanted.name) continue;
            answer_.warnings.push_back(
                fmt::format("{} {}, which {} has made, is called \"{}\" as well: give one of them "
                            "another name",
                            to_text(other.kind), other.id, other.actor, wanted.name));
        }
    }

    void lift_former_rules() {
        for (const LimitRule& rule : rules_->all()) {
            if (rule.configured && !kept_.contains(rule.id)) lift(rule);
        }
    }

    bool lift(const LimitRule& rule) {
        std::optional<Entity> entity = changes_.find(limit_key(rule.id));
        if (!entity || !end(*entity, "rule", "rule_lifted")) return false;
        answer_.rules.push_back(read_rule(*entity));
        return true;
    }

    void put_profile(const std::string& profile, const std::vector<std::string>& tenants) {
        warn_of_replaced_profile(profile);
        const Attributes attributes{{"tenants", json_list(tenants)}, {"configured", "true"}};
        write("profile", profile_key(profile), attributes,
              {.added = "profile_changed", .changed = "profile_changed"});
        answer_.profiles.push_back(profile);
    }

    void warn_of_replaced_profile(const std::string& profile) {
        const std::optional<Entity> stored = changes_.find(profile_key(profile));
        const bool is_by_hand = stored && stored->state == "active" &&
                                !truth_of(stored->attributes, "configured").value_or(false);
        if (!is_by_hand) return;
        answer_.warnings.push_back(fmt::format(
            "the tenants of profile {}, given by hand, are replaced by those of the configuration",
            profile));
    }

    // Profiles that were made by hand stay.
    void lift_former_profiles() {
        for (const auto& [profile, tenants] : rules_->profiles()) {
            if (wanted_.profiles.contains(profile)) continue;
            std::optional<Entity> stored = changes_.find(profile_key(profile));
            if (!stored || !truth_of(stored->attributes, "configured").value_or(false)) continue;
            if (end(*stored, "profile", "profile_changed")) answer_.profiles.push_back(profile);
        }
    }

    struct Actions {
        std::string_view added{};
        std::string_view changed{};
    };

    // Adds the entity with these attributes, or gives them to the one that is there. One that has
    // them already stays as it is.
    std::optional<Entity> write(const char* subject, const EntityKey& key,
                                const Attributes& attributes, const Actions& actions) {
        std::optional<Entity> stored = changes_.find(key);
        ControlChange change{
            .action = actions.added, .subject = subject, .id = key.id, .after = &attributes};
        if (!stored) {
            auto created = changes_.create({.key = key, .attributes = attributes});
            if (!created) return std::nullopt;
            note_change(changes_, change, why_);
            return *std::move(created);
        }
        const bool is_active = stored->state == "active";
        if (is_active && stored->attributes == attributes) return stored;
        const Attributes before = std::exchange(stored->attributes, attributes);
        if (is_active) {
            changes_.save(*stored);
            change.action = actions.changed;
            change.before = &before;
        } else {
            changes_.move(*stored, "renew");
        }
        if (!changes_.refusal()) note_change(changes_, change, why_);
        return stored;
    }

    bool end(Entity& entity, const char* subject, std::string_view action) {
        const Attributes before = entity.attributes;
        if (!changes_.move(entity, "lift")) return false;
        note_change(changes_,
                    {.action = action, .subject = subject, .id = entity.key.id, .before = &before},
                    why_);
        return true;
    }

    EntityChanges& changes_;
    const ConfiguredLimits& wanted_;
    std::shared_ptr<const LimitRules> rules_;
    ChangeReason why_;
    std::set<std::string> kept_{};
    LimitAnswer answer_{};
};

std::string lower_revision(const ConfiguredLimits& wanted, std::int64_t stored) {
    if (wanted.revision == 0) {
        return fmt::format(
            "the configuration has no [governance], and the rules of its revision {} "
            "stay in force: to lift them, give [governance] with a higher revision "
            "and no rules",
            stored);
    }
    return fmt::format(
        "the rules of the configuration have revision {}, and the store has revision "
        "{} already, which holds: raise governance.revision to replace them",
        wanted.revision, stored);
}

}  // namespace

Result<LimitAnswer> configure_limits(EntityChanges& changes, const ConfiguredLimits& wanted) {
    changes.act_as(configuration_actor);
    const std::optional<Entity> control = changes.find(control_key());
    const Attributes known = control ? control->attributes : Attributes{};
    const std::int64_t revision = integer_of(known, "config_revision").value_or(0);
    const std::string digest = to_hex(wanted.digest());
    const bool is_same = text_of(known, "config_digest").value_or("") == digest;
    if (wanted.revision < revision) {
        return LimitAnswer{.warnings = {lower_revision(wanted, revision)}};
    }
    if (wanted.revision == revision && is_same) return LimitAnswer{};
    if (revision > 0 && wanted.revision == revision) {
        return Error{ErrorCode::conflict,
                     fmt::format("the rules of the configuration differ from those that the store "
                                 "has of the same revision {}: raise governance.revision",
                                 revision),
                     ""};
    }
    if (wanted.revision == 0) return LimitAnswer{};
    auto answer = Configuring(changes, wanted).run();
    if (!answer) return answer;
    auto refusal = note_control(changes, "configured",
                                to_json({{"revision", std::to_string(wanted.revision)},
                                         {"digest", json_string(digest)},
                                         {"rules", std::to_string(wanted.rules.size())}}),
                                {{"config_revision", std::to_string(wanted.revision)},
                                 {"config_digest", json_string(digest)}});
    if (refusal) return *std::move(refusal);
    return answer;
}

}  // namespace sluice
