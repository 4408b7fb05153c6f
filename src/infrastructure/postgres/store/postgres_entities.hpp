#pragma once

#include <map>
#include <optional>

#include "infrastructure/postgres/statements/entity_queries.hpp"
#include "infrastructure/postgres/store/work.hpp"

namespace sluice::postgres {

// The entities of a session. An entity that it has found or put is locked, and so known until the
// session ends; where it found none, another session may add one until this session does.
class PostgresEntities : public EntityStore {
  public:
    explicit PostgresEntities(Work& work) : work_(work), queries_(work.connection) {}

    // Reads and locks these entities in the order of their keys: the only call in which a session
    // waits for entities. At most once, before any other call.
    void reserve(std::vector<EntityKey> keys);

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
    void put(std::span<const Entity> entities) override;
    void append(std::span<const EntityEvent> events) override;

  private:
    // Reads and locks these entities. Those that were not reserved are not waited for.
    void know(std::vector<EntityKey> keys);
    void take(std::vector<EntityKey> keys, std::vector<Entity> found);
    void put_known(Entity entity);

    Work& work_;
    EntityQueries queries_;
    std::map<EntityKey, std::optional<Entity>> known_;
};

}  // namespace sluice::postgres
