#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/entities/entity_kind.hpp"
#include "domain/jobs/job.hpp"
#include "domain/jobs/job_type.hpp"
#include "domain/values/result.hpp"

namespace sluice {

class EntityChanges;

// A contract's part in the decisions of the core about jobs and entities. The core calls each of
// these for every contract and knows none by name; a function that is not given adds nothing.
struct ContractRules {
    // Adds the job types and kinds of entities that come with the contract.
    void (*declare)(JobTypes& types, EntityKinds& kinds) = nullptr;

    // Adds the entities that after_end() will ask for, as far as the job itself names them. A name
    // that is missing costs another try when two sessions meet, never a wrong decision.
    void (*touched_by)(const JobSpec& job, std::vector<EntityKey>& keys) = nullptr;

    // These jobs were claimed, and their entities have moved with them, in the same transaction.
    void (*after_starts)(EntityChanges& changes, std::span<const Job* const> started) = nullptr;

    // These jobs have ended, and the entities that touched_by() named were read: reads everything
    // else that after_end() will ask for, in a few calls of the store however many jobs there are.
    void (*before_ends)(EntityChanges& changes, std::span<const Job> ended) = nullptr;

    // The job has ended for good, and its entities have moved with it, in the same transaction.
    void (*after_end)(EntityChanges& changes, const Job& ended) = nullptr;

    // Whether callers who are no admins may add or change such an entity by the general requests
    // (entity_requests.hpp). `parent` is the id of its parent, or empty.
    std::optional<Error> (*refuse_change)(EntityChanges& changes, const EntityKey& key,
                                          const std::string& parent) = nullptr;

    // Refuses attributes that an entity of the contract's kinds cannot have.
    std::optional<Error> (*check_attributes)(const EntityKey& key,
                                             const Attributes& attributes) = nullptr;

    // The contracts that come with the engine; contracts/contracts.cpp lists them.
    static std::vector<ContractRules> built_in();
};

// The job types and kinds of entities that exist.
struct Catalog {
    JobTypes types{};
    EntityKinds kinds{};

    // The catalog of the contracts that come with the engine.
    static Catalog built_in();
};

}  // namespace sluice
