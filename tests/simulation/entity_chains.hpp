#pragma once

#include <map>

#include "application/ports/store.hpp"
#include "simulation/coverage.hpp"

namespace sluice::simulation {

// Follows the histories of all entities from one look at the store to the next: events are chained
// without gaps from the entity's beginning on, each step starts in the state in which the one
// before it ended, and the entity's own row has their end and its seal.
class EntityChains {
  public:
    explicit EntityChains(Coverage& coverage) : coverage_(coverage) {}

    // Throws a Violation where one does not hold.
    void look_at(EntityReader& reader);

  private:
    struct End {
        std::int64_t seq = 0;
        Digest hash{};
        std::string state{};
        std::optional<Entity> seen{};  // and found in order
    };
    void read_events(EntityReader& reader, const Entity& entity, End& end);

    Coverage& coverage_;
    std::map<EntityKey, End> ends_;  // of the events read of each
};

}  // namespace sluice::simulation
