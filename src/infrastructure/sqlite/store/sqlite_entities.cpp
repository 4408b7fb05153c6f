#include "infrastructure/sqlite/store/sqlite_entities.hpp"

#include "infrastructure/sqlite/database/bindings.hpp"
#include "infrastructure/sqlite/database/queries.hpp"

namespace sluice::sqlite {

SqliteEntities::SqliteEntities(sqlite3* connection, EntityReader& reader, Marks& marks)
    : reader_(reader),
      marks_(marks),
      put_(connection, sql::put_entity),
      insert_event_(connection, sql::insert_entity_event) {}

std::vector<std::optional<Entity>> SqliteEntities::find(std::span<const EntityKey> keys) {
    return reader_.find(keys);
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

}  // namespace sluice::sqlite
