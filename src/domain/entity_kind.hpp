#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "domain/entity.hpp"
#include "domain/job.hpp"

namespace sluice {

// One line of a kind's table: this action leads from one of these states to that one.
struct EntityTransition {
    std::string action;
    std::vector<std::string> from;
    std::string to;
};

// Which of an app's runtime profiles a check has to have run against.
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
    std::string on_start;  // an action, or empty: nothing. A job whose entity refuses cannot start
    std::string on_success;
    std::string on_failure;  // the job has ended for good, and not with success
    // The action for a success whose result has this "outcome"; others take on_success.
    std::map<std::string, std::string, std::less<>> on_outcome{};
    // What the entity takes over from the result of a success, before it moves.
    std::vector<std::string> takes{};
};

// What all entities of one kind have in common: their states and what moves them, as data.
struct EntityKind {
    std::string name;
    std::string initial;
    std::vector<EntityTransition> transitions;
    std::vector<Gate> gates{};
    std::vector<JobOrder> orders{};
    std::vector<Follow> follows{};
    // What an app's setting "gates" calls the checks of this kind; empty: it has no say in them.
    std::string flow{};
    // Comes into being with the first job that names it.
    bool is_implicit = false;

    // The state after the action, or nothing when the table does not have it.
    std::optional<std::string> next_state(std::string_view from, std::string_view action) const;
    bool has_action(std::string_view action) const;
    // Whether the action can be taken in this state, or in one that the table leads to from it.
    bool may_still(std::string_view state, std::string_view action) const;
    const Follow* follow(std::string_view job_type) const;

    // Every state that the table names, the initial one first.
    std::vector<std::string> states() const;
};

class EntityKinds {
  public:
    // The kinds that are known without any configuration.
    static EntityKinds built_in();

    void put(EntityKind kind);
    const EntityKind* find(std::string_view name) const;
    const std::map<std::string, EntityKind, std::less<>>& all() const { return kinds_; }

    // The entities that move with the job, each with how.
    struct Followed {
        EntityKey key;
        const EntityKind* kind = nullptr;
        const Follow* follow = nullptr;
    };
    std::vector<Followed> followed_by(const JobSpec& spec) const;

  private:
    std::map<std::string, EntityKind, std::less<>> kinds_;
    // Types that any kind follows: most jobs have none, and are told apart quickly.
    std::set<std::string, std::less<>> followed_types_;
};

}  // namespace sluice
