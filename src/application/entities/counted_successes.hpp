#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "application/entities/gates.hpp"
#include "application/entities/remembered_entities.hpp"

namespace sluice {

// Tells which successes gates ask for, for a look at many jobs in one session: an entity that was
// read once is remembered.
class CountedSuccesses {
  public:
    CountedSuccesses(JobReader& jobs, const EntityKinds& kinds)
        : checks_(jobs), kinds_(kinds), entities_(jobs.entities()) {}

    // Reads the data that has() needs for these jobs, in a few calls of the store.
    void prepare(std::span<const std::optional<Job>> jobs);

    // Whether one of these counts the job:
    //   a gate before an action that its entity may still take, as the entity is now,
    //   or a question about the job's type and subject, as any caller may ask it at any time
    //   (ask_gates.hpp). Of the successes that such a question counts, the newest is enough.
    bool has(const Job& job);

    // The number of types and subjects for which successes were looked for.
    int searches() const { return static_cast<int>(newest_.size()); }

  private:
    using Question = std::tuple<EntityKey, std::string, std::string>;  // parent, type of job

    // The subjects of the questions that could count the job; one may have no row.
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
