#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "domain/entities/entity.hpp"
#include "domain/jobs/job.hpp"

namespace sluice {

// One line of a kind's table: this action leads from one of these states to that one.
struct EntityTransition {
    std::string action;
    std::vector<std::string> from;
    std::string to;
};

// The runtime profiles of an app that a check must have run against.
enum class ProfileChoice { none, temp, environments, target };
std::string_view to_text(ProfileChoice choice);
std::optional<ProfileChoice> parse_profile_choice(std::string_view text);

// The action is refused until a job of this type has succeeded for the entity as it is now.
struct Gate {
    std::string action;
    std::string job_type;
    ProfileChoice profiles = ProfileChoice::none;
};

// The action enqueues a job of this type. Its payload has "<kind>_id" and these attributes.
struct JobOrder {
    std::string action;
    std::string job_type;
    std::vector<std::string> carries;
    ProfileChoice profiles = ProfileChoice::none;
};

// How the entity moves with jobs of this type, in the transaction in which the job does.
struct Follow {
    std::string job_type;
    std::string on_start;  // an action, or empty. A job whose entity refuses it cannot start
    std::string on_success;
    std::string on_failure;  // the job has ended for good, without success
    // The action for a success whose result has this "outcome"; others take on_success.
    std::map<std::string, std::string, std::less<>> on_outcome{};
    // Members of the result of a success that become attributes of the entity, before it moves.
    std::vector<std::string> takes{};
};

// The properties that all entities of one kind share: their states and actions, as data.
struct EntityKind {
    std::string name;
    std::string initial;
    std::vector<EntityTransition> transitions;
    std::vector<Gate> gates{};
    std::vector<JobOrder> orders{};
    std::vector<Follow> follows{};
    // The name of this kind's checks in an app's setting "gates"; empty: the setting does not cover
    // them.
    std::string flow{};
    // Created by the first job that names it.
    bool is_implicit = false;

    // A kind with a single state.
    static EntityKind record(std::string name);

    // The state after the action, or nothing when the table does not have it.
    std::optional<std::string> next_state(std::string_view from, std::string_view action) const;
    bool has_action(std::string_view action) const;
    // Whether the action can be taken in this state, or in one that the table leads to from it.
    bool may_still(std::string_view state, std::string_view action) const;
    const Follow* follow(std::string_view job_type) const;

    // Every action of the table, each once.
    std::vector<std::string> actions() const;
    // Every state that the table names, the initial one first.
    std::vector<std::string> states() const;
};

class EntityKinds {
  public:
    void put(EntityKind kind);
    const EntityKind* find(std::string_view name) const;
    const std::map<std::string, EntityKind, std::less<>>& all() const { return kinds_; }

    // The entities that move with the job, and how.
    struct Followed {
        EntityKey key;
        const EntityKind* kind = nullptr;
        const Follow* follow = nullptr;
    };
    std::vector<Followed> followed_by(const JobSpec& spec) const;

  private:
    std::map<std::string, EntityKind, std::less<>> kinds_;
    // Types that any kind follows: the jobs of most types follow none, which is found quickly.
    std::set<std::string, std::less<>> followed_types_;
};

}  // namespace sluice
