#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "application/gates.hpp"
#include "application/remembered_entities.hpp"

namespace sluice {

// Tells which successes are asked for, for a look at many jobs in one session: what was read once
// is remembered.
class CountedSuccesses {
  public:
    CountedSuccesses(JobReader& jobs, const EntityKinds& kinds)
        : checks_(jobs), kinds_(kinds), entities_(jobs.entities()) {}

    // Has at hand what has() asks for about these jobs, in a few calls of the store.
    void prepare(std::span<const std::optional<Job>> jobs);

    // Whether one of these counts the job:
    //   a gate before an action that its entity may still take, as the entity is now,
    //   or a question about the job's type and what it is about, as anybody may ask it at any time
    //   (ask_gates.hpp). Of the successes that such a question counts, the newest is enough.
    bool has(const Job& job);

    // For how many types and subjects successes were looked for.
    int searches() const { return static_cast<int>(newest_.size()); }

  private:
    using Question = std::tuple<EntityKey, std::string, std::string>;  // parent, type of job

    // The entities that questions which could count the job are about; one may have no row.
    std::vector<Entity> subjects_of(const JobSpec& spec);
    const std::set<JobId>& newest_of(const Entity& entity, const EntityKind* kind,
                                     const std::string& type);
    bool is_before_action(const Entity& entity, const EntityKind& kind, const Job& job);

    Checks checks_;
    const EntityKinds& kinds_;
    RememberedEntities entities_;
    std::map<Question, std::set<JobId>> newest_;
};

}  // namespace sluice
