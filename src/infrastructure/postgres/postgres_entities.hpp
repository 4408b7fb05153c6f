#pragma once

#include <map>
#include <optional>

#include "infrastructure/postgres/entity_queries.hpp"
#include "infrastructure/postgres/work.hpp"

namespace sluice::postgres {

// Looks at entities in a session without keeping others from changing them.
class EntityView : public EntityReader {
  public:
    explicit EntityView(Work& work) : work_(work), queries_(work.connection) {}

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit) override;
    std::int64_t count(const EntityFilter& filter) override;
    std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after, int limit) override;

  private:
    Work& work_;
    EntityQueries queries_;
};

// The entities of a session. What it has found or put is locked, and so known until the session
// ends; where it has found nothing, another session may add one until this one does.
class PostgresEntities : public EntityStore {
  public:
    explicit PostgresEntities(Work& work) : work_(work), queries_(work.connection), view_(work) {}

    EntityReader& view() { return view_; }

    // Has these at hand, locked in the order of their keys: the only place where a session waits
    // for entities. At most once, before any other call.
    void reserve(std::vector<EntityKey> keys);

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit) override;
    std::int64_t count(const EntityFilter& filter) override;
    std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after, int limit) override;
    void put(std::span<const Entity> entities) override;
    void append(std::span<const EntityEvent> events) override;

  private:
    // Has these at hand, locked. What was not reserved is not waited for.
    void know(std::vector<EntityKey> keys);
    void take(std::vector<EntityKey> keys, std::vector<Entity> found);
    void put_known(Entity entity);

    Work& work_;
    EntityQueries queries_;
    EntityView view_;
    std::map<EntityKey, std::optional<Entity>> known_;
};

}  // namespace sluice::postgres
