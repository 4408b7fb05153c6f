#include "infrastructure/sqlite/reading/entity_queries.hpp"

#include <algorithm>

#include "infrastructure/sql/entity_rows.hpp"
#include "infrastructure/sqlite/database/queries.hpp"

namespace sluice::sqlite {
namespace {

void add_conditions(std::string& sql, const EntityFilter& filter) {
    if (!filter.tenant.empty()) sql += sql::is_tenant_of_entity;
    if (!filter.kind.empty()) sql += sql::is_kind_of_entity;
    if (!filter.parent.empty()) sql += sql::is_parent_of_entity;
    if (filter.states.empty()) return;
    sql += sql::is_entity_in_states;
    for (std::size_t i = 0; i < filter.states.size(); ++i) sql += i == 0 ? "?" : ",?";
    sql += ")";
}

// Returns the number of the last placeholder that was bound.
int bind_conditions(Statement& statement, int bound, const EntityFilter& filter) {
    for (const std::string* value : {&filter.tenant, &filter.kind, &filter.parent}) {
        if (!value->empty()) statement.bind_from(bound++, *value);
    }
    for (const std::string& state : filter.states) statement.bind_from(bound++, state);
    return bound;
}

}  // namespace

std::string list_entities_sql(const EntityFilter& filter) {
    std::string sql(sql::list_entities.view());
    add_conditions(sql, filter);
    return sql + sql::newest_entities_first;
}

std::string count_entities_sql(const EntityFilter& filter) {
    std::string sql = sql::count_entities;
    add_conditions(sql, filter);
    return sql;
}

EntityQueries::EntityQueries(sqlite3* connection, Moments moments)
    : connection_(connection),
      moments_(moments),
      find_(connection, sql::find_entity),
      list_events_(connection, sql::list_entity_events) {}

std::optional<Entity> EntityQueries::read(const EntityKey& key) {
    const Reading reading(find_.with(key.tenant, key.kind, key.id));
    if (!find_.next_row()) return std::nullopt;
    Row row(find_);
    return read_entity(row);
}

std::vector<std::optional<Entity>> EntityQueries::find(std::span<const EntityKey> keys) {
    std::vector<std::optional<Entity>> entities;
    entities.reserve(keys.size());
    // One statement sees one moment anyway.
    const Moment moment(connection_, keys.size() == 1 ? Moments::of_transaction : moments_);
    for (const EntityKey& key : keys) entities.push_back(read(key));
    return entities;
}

std::vector<Entity> EntityQueries::list(const EntityFilter& filter, std::int64_t before,
                                        std::int64_t offset, int limit) {
    Statement statement(connection_, list_entities_sql(filter));
    statement.bind_from(0, before);
    const int bound = bind_conditions(statement, 1, filter);
    statement.bind_from(bound, std::max(limit, 0), std::max<std::int64_t>(offset, 0));

    std::vector<Entity> entities;
    while (statement.next_row()) {
        Row row(statement);
        entities.push_back(read_entity(row));
    }
    return entities;
}

std::int64_t EntityQueries::count(const EntityFilter& filter) {
    Statement statement(connection_, count_entities_sql(filter));
    bind_conditions(statement, 0, filter);
    statement.next_row();
    return statement.integer(0);
}

std::vector<EntityEvent> EntityQueries::events(const EntityKey& key, std::int64_t after,
                                               int limit) {
    std::vector<EntityEvent> events;
    const Reading reading(
        list_events_.with(key.tenant, key.kind, key.id, after, std::max(limit, 0)));
    while (list_events_.next_row()) {
        Row row(list_events_);
        events.push_back(read_entity_event(row));
    }
    return events;
}

}  // namespace sluice::sqlite
