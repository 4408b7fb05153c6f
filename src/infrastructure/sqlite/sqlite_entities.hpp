#pragma once

#include "infrastructure/sqlite/entity_queries.hpp"
#include "infrastructure/sqlite/insert.hpp"
#include "infrastructure/sqlite/marks.hpp"

namespace sluice::sqlite {

// The entities of the writing session.
class SqliteEntities final : public EntityStore {
  public:
    SqliteEntities(sqlite3* connection, Marks& marks);

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit) override;
    std::int64_t count(const EntityFilter& filter) override;
    std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after, int limit) override;
    void put(std::span<const Entity> entities) override;
    void append(std::span<const EntityEvent> events) override;

  private:
    Marks& marks_;
    EntityQueries queries_;
    Statement put_;
    Insert insert_event_;
};

// Reads entities beside the writer, on a reader's connection.
class SqliteEntityReader final : public EntityReader {
  public:
    explicit SqliteEntityReader(sqlite3* connection)
        : connection_(connection), queries_(connection) {}

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit) override;
    std::int64_t count(const EntityFilter& filter) override;
    std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after, int limit) override;

  private:
    sqlite3* connection_;
    EntityQueries queries_;
};

}  // namespace sluice::sqlite
