#include "application/apps/app_parts.hpp"

#include <algorithm>

#include "application/toolkit/names.hpp"
#include "json/json_values.hpp"

namespace sluice::apps {

Error conflict(std::string message) {
    return {ErrorCode::conflict, std::move(message), {}};
}

std::string name_of(const Caller& caller) {
    return caller.name.empty() ? "operator" : caller.name;
}

std::string_view json_of(const Attributes& attributes, std::string_view name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? std::string_view() : std::string_view(found->second);
}

void take_over(Attributes& attributes, const Attributes& wanted) {
    for (const auto& [name, value] : wanted) {
        if (value == "null") {
            attributes.erase(name);
        } else {
            attributes[name] = value;
        }
    }
}

bool allows(EntityChanges& changes, const Entity& entity, std::string_view action) {
    const EntityKind* kind = changes.rules().kinds.find(entity.key.kind);
    return kind != nullptr && kind->next_state(entity.state, action).has_value();
}

NewEntity part_of(const Entity& app, std::string_view kind, Attributes attributes) {
    return {
        .key = sibling(app, kind, {}), .parent = app.key.id, .attributes = std::move(attributes)};
}

EntityKey sibling(const Entity& entity, std::string_view kind, std::string id) {
    return {entity.key.tenant, std::string(kind), std::move(id)};
}

std::vector<Entity> queued_changesets(EntityChanges& changes, const Entity& app) {
    std::vector<Entity> queued = changes.list(
        {.tenant = app.key.tenant, .kind = "changeset", .parent = app.key.id, .states = {"queued"}},
        all_of_them);
    const auto rank = [](const Entity& changeset) {
        const auto position = integer_of(changeset.attributes, "queue_position").value_or(0);
        return std::pair(position, changeset.number);
    };
    std::sort(queued.begin(), queued.end(),
              [&](const Entity& a, const Entity& b) { return rank(a) < rank(b); });
    return queued;
}

std::optional<Error> check_profile(EntityChanges& changes, const Entity& app,
                                   const Attributes& attributes, ProfileUse use) {
    constexpr const char* field = "runtime_profile_id";
    const auto id = text_of(attributes, field);
    if (!id) return std::nullopt;
    const auto profile = find_in_app(changes, app, "runtime_profile", *id);
    if (!profile) return refuse(field, "names no runtime profile of this app");
    const bool is_persistent = text_of(profile->attributes, "kind") == "persistent_env";
    if (is_persistent == (use == ProfileUse::environment)) return std::nullopt;
    return refuse(field, use == ProfileUse::environment
                             ? "must name a profile of the kind persistent_env"
                             : "must name a profile of the kind temp_workspace or temp_changeset");
}

std::optional<Entity> profile_of(EntityChanges& changes, const Entity& entity) {
    const auto id = text_of(entity.attributes, "runtime_profile_id");
    return id ? changes.find(sibling(entity, "runtime_profile", *id)) : std::nullopt;
}

void add_profile_of(EntityChanges& changes, const Entity& entity, Attributes& payload) {
    if (const auto profile = profile_of(changes, entity)) add_profile(payload, *profile);
}

}  // namespace sluice::apps
