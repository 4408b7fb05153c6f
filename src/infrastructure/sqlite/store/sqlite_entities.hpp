#pragma once

#include "infrastructure/sqlite/database/insert.hpp"
#include "infrastructure/sqlite/database/marks.hpp"
#include "infrastructure/sqlite/reading/entity_queries.hpp"

namespace sluice::sqlite {

// The entities of the writing session, which no other session can change.
class SqliteEntities final : public EntityStore {
  public:
    SqliteEntities(sqlite3* connection, EntityReader& reader, Marks& marks);

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
    void put(std::span<const Entity> entities) override;
    void append(std::span<const EntityEvent> events) override;

  private:
    EntityReader& reader_;
    Marks& marks_;
    Statement put_;
    Insert insert_event_;
};

}  // namespace sluice::sqlite
