#include "domain/entities/entity_kind.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr auto choices = std::to_array<std::pair<ProfileChoice, std::string_view>>({
    {ProfileChoice::none, "none"},
    {ProfileChoice::temp, "temp"},
    {ProfileChoice::environments, "environments"},
    {ProfileChoice::target, "target"},
});

}  // namespace

std::string_view to_text(ProfileChoice choice) {
    for (const auto& [value, text] : choices) {
        if (value == choice) return text;
    }
    return "none";
}

std::optional<ProfileChoice> parse_profile_choice(std::string_view text) {
    for (const auto& [value, name] : choices) {
        if (name == text) return value;
    }
    return std::nullopt;
}

std::optional<std::string> EntityKind::next_state(std::string_view from,
                                                  std::string_view action) const {
    for (const EntityTransition& row : transitions) {
        if (row.action == action &&
            std::find(row.from.begin(), row.from.end(), from) != row.from.end()) {
            return row.to;
        }
    }
    return std::nullopt;
}

bool EntityKind::has_action(std::string_view action) const {
    return std::any_of(transitions.begin(), transitions.end(),
                       [&](const EntityTransition& row) { return row.action == action; });
}

bool EntityKind::may_still(std::string_view state, std::string_view action) const {
    std::vector<std::string_view> reached{state};
    for (std::size_t i = 0; i < reached.size(); ++i) {
        if (next_state(reached[i], action)) return true;
        for (const EntityTransition& row : transitions) {
            const bool leads_on =
                std::find(row.from.begin(), row.from.end(), reached[i]) != row.from.end();
            const bool is_new = std::find(reached.begin(), reached.end(), row.to) == reached.end();
            if (leads_on && is_new) reached.push_back(row.to);
        }
    }
    return false;
}

const Follow* EntityKind::follow(std::string_view job_type) const {
    const auto found = std::find_if(follows.begin(), follows.end(), [&](const Follow& follow) {
        return follow.job_type == job_type;
    });
    return found == follows.end() ? nullptr : &*found;
}

std::vector<std::string> EntityKind::actions() const {
    std::vector<std::string> all;
    for (const EntityTransition& row : transitions) {
        if (std::find(all.begin(), all.end(), row.action) == all.end()) all.push_back(row.action);
    }
    return all;
}

std::vector<std::string> EntityKind::states() const {
    std::vector<std::string> all{initial};
    const auto add = [&](const std::string& state) {
        if (std::find(all.begin(), all.end(), state) == all.end()) all.push_back(state);
    };
    for (const EntityTransition& row : transitions) {
        for (const std::string& from : row.from) add(from);
        add(row.to);
    }
    return all;
}

void EntityKinds::put(EntityKind kind) {
    for (const Follow& follow : kind.follows) followed_types_.insert(follow.job_type);
    std::string name = kind.name;
    kinds_.insert_or_assign(std::move(name), std::move(kind));
}

EntityKind EntityKind::record(std::string name) {
    return {.name = std::move(name), .initial = "active", .transitions = {}};
}

const EntityKind* EntityKinds::find(std::string_view name) const {
    const auto found = kinds_.find(name);
    return found == kinds_.end() ? nullptr : &found->second;
}

std::vector<EntityKinds::Followed> EntityKinds::followed_by(const JobSpec& spec) const {
    std::vector<Followed> followed;
    if (!followed_types_.contains(spec.type)) return followed;
    const auto add = [&](std::string_view kind_name, const std::string& id) {
        const EntityKind* kind = id.empty() ? nullptr : find(kind_name);
        const Follow* follow = kind ? kind->follow(spec.type) : nullptr;
        if (!follow) return;
        const EntityKey key{spec.tenant, kind->name, id};
        const auto same = [&](const Followed& other) { return other.key == key; };
        if (std::none_of(followed.begin(), followed.end(), same))
            followed.push_back({key, kind, follow});
    };
    add("site", spec.site_id);
    add("node", spec.node_id);
    add(spec.entity_type, spec.entity_id);
    return followed;
}

}  // namespace sluice
