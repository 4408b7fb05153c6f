#include "infrastructure/postgres/statements/entity_queries.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infrastructure/postgres/schema/query_text.hpp"
#include "infrastructure/postgres/statements/writes.hpp"

namespace sluice::postgres {
namespace {

// One row for each key, in their order.
constexpr auto find_entities =
    sql::query("find_entities", "SELECT " + rows::read_columns<tables::entity_table, "e.@"> + R"sql(
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS wanted (tenant, kind, id, nth)
LEFT JOIN LATERAL (SELECT * FROM entity x WHERE x.tenant = wanted.tenant
    AND x.kind = wanted.kind AND x.id = wanted.id OFFSET 0) e ON true
ORDER BY wanted.nth)sql");
constexpr auto lock_entities = sql::query("lock_entities", sql::lock_rows<tables::entity_table>);
constexpr auto try_lock_entities =
    sql::query("try_lock_entities", sql::try_lock_rows<tables::entity_table>);
constexpr auto list_entity_events = sql::query(
    "list_entity_events", "SELECT " + rows::read_columns<tables::entity_event_table> + R"sql(
FROM entity_event WHERE tenant = $1::text AND kind = $2::text AND id = $3::text AND seq > $4::int8
ORDER BY seq LIMIT $5::int8)sql");

// {} stands for the number of the condition's parameter. These have no name and are planned each
// time, with their values.
constexpr auto list_entities =
    "SELECT " + rows::read_columns<tables::entity_table, "e.@"> + " FROM entity e WHERE true";
constexpr char count_entities[] = "SELECT count(*) FROM entity e WHERE true";
constexpr char is_tenant[] = " AND e.tenant = ${}::text";
constexpr char is_kind[] = " AND e.kind = ${}::text";
constexpr char is_parent[] = " AND e.parent = ${}::text";
constexpr char is_in_states[] = " AND e.state = ANY(${}::text[])";
constexpr char is_before[] = " AND e.number < ${}::int8 ORDER BY e.number DESC";
constexpr char limited[] = " LIMIT ${}::int8";
constexpr char without_the_first[] = " OFFSET ${}::int8";

// Puts a query together. Values become parameters, never text.
class EntityQuery {
  public:
    EntityQuery(std::string_view beginning, const EntityFilter& filter) : text_(beginning) {
        if (!filter.tenant.empty()) add(is_tenant, filter.tenant);
        if (!filter.kind.empty()) add(is_kind, filter.kind);
        if (!filter.parent.empty()) add(is_parent, filter.parent);
        if (!filter.states.empty()) add(is_in_states, filter.states);
    }

    template <class Value>
    void add(const char* sql, const Value& value) {
        params_.add(value);
        text_ += fmt::format(fmt::runtime(sql), params_.size());
    }

    Connection::Ticket post(Connection& connection) const {
        return connection.post({"", text_}, params_);
    }
    Result ask(Connection& connection) const { return connection.take(post(connection)); }

  private:
    std::string text_;
    Params params_;
};

EntityQuery listing(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                    int limit) {
    EntityQuery query(list_entities, filter);
    query.add(is_before, before);
    query.add(limited, std::int64_t{std::max(limit, 0)});
    query.add(without_the_first, std::max<std::int64_t>(offset, 0));
    return query;
}

Params params_of(std::span<const EntityKey> keys) {
    TableKeys<tables::entity_table> wanted;
    Entity entity;
    for (const EntityKey& key : keys) {
        entity.key = key;
        wanted.add(entity);
    }
    return Params(wanted);
}

std::vector<Entity> entities_of(const Result& rows) {
    std::vector<Entity> entities;
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        entities.push_back(read_entity(row));
    }
    return entities;
}

}  // namespace

Connection& EntityQueries::up_to_date() {
    if (gathered_ != nullptr) gathered_->flush();
    return connection_;
}

std::vector<std::optional<Entity>> EntityQueries::find(std::span<const EntityKey> keys) {
    std::vector<std::optional<Entity>> entities;
    if (keys.empty()) return entities;
    const Result rows = up_to_date().ask(find_entities, params_of(keys));
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        entities.push_back(row.next_is_null() ? std::nullopt : std::optional(read_entity(row)));
    }
    return entities;
}

std::vector<Entity> EntityQueries::lock(std::span<const EntityKey> keys) {
    if (keys.empty()) return {};
    return entities_of(connection_.ask(lock_entities, params_of(keys)));
}

std::vector<Entity> EntityQueries::try_lock(std::span<const EntityKey> keys) {
    if (keys.empty()) return {};
    try {
        return entities_of(connection_.ask(try_lock_entities, params_of(keys)));
    } catch (const RowLocked&) {
        throw EntitiesBusy({keys.begin(), keys.end()});
    }
}

std::vector<Entity> EntityQueries::list(const EntityFilter& filter, std::int64_t before,
                                        std::int64_t offset, int limit) {
    return entities_of(listing(filter, before, offset, limit).ask(up_to_date()));
}

// Sent together, so that they are waited for once.
std::vector<std::vector<Entity>> EntityQueries::lists(std::span<const EntityFilter> filters,
                                                      int limit) {
    std::vector<Connection::Ticket> tickets;
    Connection& connection = up_to_date();
    for (const EntityFilter& filter : filters) {
        tickets.push_back(listing(filter, newest_entity, 0, limit).post(connection));
    }
    std::vector<std::vector<Entity>> found;
    for (const Connection::Ticket ticket : tickets) {
        found.push_back(entities_of(connection.take(ticket)));
    }
    return found;
}

std::int64_t EntityQueries::count(const EntityFilter& filter) {
    const Result counted = EntityQuery(count_entities, filter).ask(up_to_date());
    return Row(counted, 0).integer();
}

std::vector<EntityEvent> EntityQueries::events(const EntityKey& key, std::int64_t after,
                                               int limit) {
    const Result rows = up_to_date().ask(
        list_entity_events,
        Params(key.tenant, key.kind, key.id, after, std::int64_t{std::max(limit, 0)}));
    std::vector<EntityEvent> events;
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        events.push_back(read_entity_event(row));
    }
    return events;
}

}  // namespace sluice::postgres
