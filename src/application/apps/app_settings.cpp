#include <fmt/format.h>

#include "application/apps/app_changes.hpp"
#include "application/apps/app_parts.hpp"
#include "application/toolkit/names.hpp"
#include "json/json_values.hpp"

namespace sluice::apps {
namespace {

constexpr std::int64_t approvals_max = 100;

std::optional<Error> check_gates(std::string_view gates) {
    for (const auto& [name, choice] : json_members(gates)) {
        const std::string pointer = "gates/" + name;
        if (name != "submit" && name != "publish" && name != "deploy") {
            return refuse(pointer, "is no gate; there are submit, publish and deploy");
        }
        if (!parse_profile_choice(text_of({{name, choice}}, name).value_or(""))) {
            return refuse(pointer, "must be none, temp, environments or target");
        }
        // A deployment is checked once, in its environment.
        const std::string chosen = text_of({{name, choice}}, name).value_or("");
        if (name == "deploy" && chosen != "target" && chosen != "none") {
            return refuse(pointer, "must be target or none");
        }
    }
    return std::nullopt;
}

std::optional<Error> check_settings(const Attributes& settings) {
    if (settings.contains("approvals_required")) {
        const auto count = integer_of(settings, "approvals_required");
        if (json_of(settings, "approvals_required") != "null" &&
            (!count || *count < 1 || *count > approvals_max)) {
            return refuse("approvals_required",
                          fmt::format("must be a number between 1 and {}", approvals_max));
        }
    }
    return check_gates(json_of(settings, "gates"));
}

}  // namespace

Result<EntityAnswer> create_app(EntityChanges& changes, const Caller& caller, std::string id,
                                Attributes attributes) {
    changes.act_as(actor_name(caller));
    if (auto refusal = check_name("id", id)) return *refusal;
    if (auto refusal = check_settings(attributes)) return *refusal;
    Attributes members;
    if (!caller.name.empty()) members[caller.name] = json_string(to_text(Role::app_admin));
    attributes["members"] = to_json(members);
    const auto app = changes.create(
        {.key = {caller.tenant, "app", std::move(id)}, .attributes = std::move(attributes)});
    if (!app) return app.error();
    return EntityAnswer{.entity = *app};
}

Result<EntityAnswer> update_app(EntityChanges& changes, const Caller& caller,
                                const std::string& app_id, const Attributes& wanted) {
    auto app = find_app(changes, caller, app_id, Role::app_admin);
    if (!app) return app.error();
    if (auto refusal = check_settings(wanted)) return *refusal;
    take_over(app->attributes, wanted);
    changes.save(*app);
    return EntityAnswer{.entity = *app};
}

Result<EntityAnswer> put_member(EntityChanges& changes, const Caller& caller,
                                const std::string& app_id, const std::string& user, Role role) {
    auto app = find_app(changes, caller, app_id, Role::app_admin);
    if (!app) return app.error();
    if (user.empty()) return refuse("user", "must not be empty");
    if (auto refusal = check_name("user", user)) return *refusal;
    Attributes members = json_members(json_of(app->attributes, "members"));
    members[user] = json_string(to_text(role));
    app->attributes["members"] = to_json(members);
    changes.save(*app, "member_put",
                 to_json({{"user", json_string(user)}, {"role", members[user]}}));
    return EntityAnswer{.entity = *app};
}

}  // namespace sluice::apps
