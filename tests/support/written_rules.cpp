#include "support/written_rules.hpp"

#include "application/limits/stored_rules.hpp"
#include "json/json_values.hpp"

namespace sluice {
namespace {

constexpr std::int64_t first_number = 9'000'000'000'000;

// The revision of the control entity numbers all changes.
std::int64_t add_control_event(Session& session, const LimitRule& rule) {
    const auto stored = session.entities().find_one(control_key());
    Entity control = stored.value_or(Entity{.key = control_key(),
                                            .number = first_number,
                                            .parent = "",
                                            .state = "recorded",
                                            .attributes = {}});
    ++control.revision;
    session.entities().put({&control, 1});
    const EntityEvent event{.key = control.key,
                            .seq = control.revision,
                            .at = {},
                            .action = "updated",
                            .from = "recorded",
                            .to = "recorded",
                            .actor = "test",
                            .detail = to_json(Attributes{{"rule", json_string(rule.id)}})};
    session.entities().append({&event, 1});
    return control.revision;
}

void write(Session& session, const LimitRule& rule, const char* state, Timestamp now) {
    const auto stored = session.entities().find_one(limit_key(rule.id));
    Entity entity{.key = limit_key(rule.id),
                  .number = first_number + add_control_event(session, rule),
                  .parent = "",
                  .state = state,
                  .revision = stored ? stored->revision + 1 : 1,
                  .attributes = attributes_of(rule)};
    session.entities().put({&entity, 1});
    session.limits().rules_written(now);
}

}  // namespace

LimitRule limit_rule(const std::string& name) {
    LimitRule rule{.id = name + std::string(24 - name.size(), '0')};
    rule.name = name;
    return rule;
}

void write_rule(Session& session, const LimitRule& rule, Timestamp now) {
    write(session, rule, "active", now);
}

void lift_rule(Session& session, const LimitRule& rule, Timestamp now) {
    write(session, rule, "lifted", now);
}

}  // namespace sluice
