#pragma once

#include <span>
#include <string>
#include <vector>

#include "application/ports/entity_store.hpp"
#include "infrastructure/sqlite/statement.hpp"

namespace sluice::sqlite {

// The SQL text for a filter, put together from the fixed pieces in queries.hpp.
std::string list_entities_sql(const EntityFilter& filter);
std::string count_entities_sql(const EntityFilter& filter);

// Reads entities on one connection: what readers and the writing session share. Each function sees
// one moment, save that find() needs an open transaction for it when there are several keys.
class EntityQueries {
  public:
    explicit EntityQueries(sqlite3* connection);

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys);
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit);
    std::int64_t count(const EntityFilter& filter);
    std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after, int limit);

  private:
    std::optional<Entity> find(const EntityKey& key);

    sqlite3* connection_;
    Statement find_;
    Statement list_events_;
};

}  // namespace sluice::sqlite
