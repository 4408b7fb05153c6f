#pragma once

#include <span>
#include <string>
#include <vector>

#include "application/ports/entity_store.hpp"
#include "infrastructure/sqlite/database/reading.hpp"

namespace sluice::sqlite {

// The SQL text for a filter, put together from the fixed pieces in queries.hpp.
std::string list_entities_sql(const EntityFilter& filter);
std::string count_entities_sql(const EntityFilter& filter);

// Reads entities on one connection: in parallel to the writer, or in its session.
class EntityQueries final : public EntityReader {
  public:
    EntityQueries(sqlite3* connection, Moments moments);

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit) override;
    std::int64_t count(const EntityFilter& filter) override;
    std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after, int limit) override;

  private:
    std::optional<Entity> read(const EntityKey& key);

    sqlite3* connection_;
    Moments moments_;
    Statement find_;
    Statement list_events_;
};

}  // namespace sluice::sqlite
