#include "infrastructure/sqlite/sqlite_entities.hpp"

#include "infrastructure/entity_rows.hpp"
#include "infrastructure/sqlite/bindings.hpp"
#include "infrastructure/sqlite/queries.hpp"
#include "infrastructure/sqlite/reading.hpp"

namespace sluice::sqlite {

// ── the writing session ──

SqliteEntities::SqliteEntities(sqlite3* connection, Marks& marks)
    : marks_(marks),
      queries_(connection),
      put_(connection, sql::put_entity),
      insert_event_(connection, sql::insert_entity_event) {}

std::vector<std::optional<Entity>> SqliteEntities::find(std::span<const EntityKey> keys) {
    return queries_.find(keys);
}

std::vector<Entity> SqliteEntities::list(const EntityFilter& filter, std::int64_t before,
                                         std::int64_t offset, int limit) {
    return queries_.list(filter, before, offset, limit);
}

std::int64_t SqliteEntities::count(const EntityFilter& filter) {
    return queries_.count(filter);
}

std::vector<EntityEvent> SqliteEntities::events(const EntityKey& key, std::int64_t after,
                                                int limit) {
    return queries_.events(key, after, limit);
}

void SqliteEntities::put(std::span<const Entity> entities) {
    for (const Entity& entity : entities) {
        put_entity(put_, entity);
        marks_.number_given(entity.number);
    }
}

void SqliteEntities::append(std::span<const EntityEvent> events) {
    insert_event_.run(events, bind_entity_event);
}

// ── readers ──

std::vector<std::optional<Entity>> SqliteEntityReader::find(std::span<const EntityKey> keys) {
    if (keys.size() == 1) return queries_.find(keys);  // one statement sees one moment anyway
    const Snapshot snapshot(connection_);
    return queries_.find(keys);
}

std::vector<Entity> SqliteEntityReader::list(const EntityFilter& filter, std::int64_t before,
                                             std::int64_t offset, int limit) {
    return queries_.list(filter, before, offset, limit);
}

std::int64_t SqliteEntityReader::count(const EntityFilter& filter) {
    return queries_.count(filter);
}

std::vector<EntityEvent> SqliteEntityReader::events(const EntityKey& key, std::int64_t after,
                                                    int limit) {
    return queries_.events(key, after, limit);
}

}  // namespace sluice::sqlite
