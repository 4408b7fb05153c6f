#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "domain/entities/entity.hpp"

namespace sluice {

// Which entities a list shows. An empty string or an empty list does not narrow it.
struct EntityFilter {
    std::string tenant = "default";
    std::string kind{};
    std::string parent{};
    std::vector<std::string> states{};

    bool operator==(const EntityFilter&) const = default;

    bool accepts(const Entity& entity) const;
};

inline constexpr std::int64_t newest_entity = INT64_MAX;

// Reads entities and their history. Every sentence has a test in tests/contract/.
class EntityReader {
  public:
    virtual ~EntityReader() = default;

    // The entities of these keys, in this order; nothing where there is none.
    virtual std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) = 0;

    // The entities that the filter accepts with numbers below `before`, newest first, without the
    // first `offset` of them, `limit` at the most.
    virtual std::vector<Entity> list(const EntityFilter& filter, std::int64_t before,
                                     std::int64_t offset, int limit) = 0;

    // The lists for each of these filters from the newest entity on, each with `limit` at the most:
    // in one call, and one round trip.
    virtual std::vector<std::vector<Entity>> lists(std::span<const EntityFilter> filters,
                                                   int limit);

    // How many entities the filter accepts.
    virtual std::int64_t count(const EntityFilter& filter) = 0;

    // The entity's events with numbers above `after`, in order, `limit` at the most.
    virtual std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after,
                                            int limit) = 0;

    std::optional<Entity> find_one(const EntityKey& key) {
        return std::move(find({&key, 1}).front());
    }
};

// Writes entities. An entity that a session's find() gave is not changed by another session until
// this one has ended; where it gave nothing, and another session adds one meanwhile, the commit is
// a StoreConflict. An entity that another session has locked and this one did not reserve is not
// waited for: EntitiesBusy. Entities that the session's reader gave are not locked.
class EntityStore {
  public:
    virtual ~EntityStore() = default;

    // The entities of these keys, in this order; nothing where there is none.
    virtual std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) = 0;

    std::optional<Entity> find_one(const EntityKey& key) {
        return std::move(find({&key, 1}).front());
    }

    // Adds entities, or overwrites them except for their numbers and creation times.
    virtual void put(std::span<const Entity> entities) = 0;

    // Appends; an entity's events come in the order of their numbers. Events are never changed.
    virtual void append(std::span<const EntityEvent> events) = 0;
};

}  // namespace sluice
