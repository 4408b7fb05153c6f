#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/entity.hpp"
#include "domain/job.hpp"
#include "domain/result.hpp"

namespace sluice {

class EntityDesk;

// A contract's part in what the core does with jobs and entities. The core calls each of these
// for every contract and knows none by name; a function that is not given adds nothing.
struct ContractRules {
    // Adds the entities that after_end() will ask for, as far as the job itself names them. A name
    // that is missing costs another try when two sessions meet, never a wrong decision.
    void (*touched_by)(const JobSpec& job, std::vector<EntityKey>& keys) = nullptr;

    // These jobs were claimed, and their entities have moved with them, in the same transaction.
    void (*after_starts)(EntityDesk& desk, std::span<const Job* const> started) = nullptr;

    // These jobs have ended, and what touched_by() named is at hand: has at hand what after_end()
    // will ask for besides, in a few calls of the store however many jobs there are.
    void (*before_ends)(EntityDesk& desk, std::span<const Job> ended) = nullptr;

    // The job has ended for good, and its entities have moved with it, in the same transaction.
    void (*after_end)(EntityDesk& desk, const Job& ended) = nullptr;

    // Whether callers who are no admins may add or change such an entity by the general requests
    // (entity_requests.hpp). `parent` is the id of what it belongs to, or empty.
    std::optional<Error> (*refuse_change)(EntityDesk& desk, const EntityKey& key,
                                          const std::string& parent) = nullptr;

    // Refuses attributes that an entity of the contract's kinds cannot have.
    std::optional<Error> (*check_attributes)(const EntityKey& key,
                                             const Attributes& attributes) = nullptr;

    // The contracts that come with the engine.
    static std::vector<ContractRules> built_in();
};

}  // namespace sluice
