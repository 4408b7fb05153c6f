#pragma once

#include <map>
#include <span>
#include <vector>

#include "application/ports/entity_store.hpp"

namespace sluice {

// The entities that a MemoryStore holds, and their events.
struct EntityRecords {
    std::map<EntityKey, Entity> entities;
    std::map<std::int64_t, EntityKey> keys;  // by number
    std::map<EntityKey, std::vector<EntityEvent>> events;

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> wanted) const;
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit) const;
    std::int64_t count(const EntityFilter& filter) const;
    std::vector<EntityEvent> events_after(const EntityKey& key, std::int64_t after,
                                          int limit) const;
};

}  // namespace sluice
