#include "infrastructure/postgres/entity_queries.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infrastructure/entity_rows.hpp"

namespace sluice::postgres {
namespace {

#define SLUICE_ENTITY_COLUMNS                                                         \
    "e.tenant, e.kind, e.id, e.number, e.parent, e.state, e.revision, e.created_at, " \
    "e.updated_at, "                                                                  \
    "e.attributes"

// One row for each key, in their order.
constexpr Query find_entities{"find_entities", "SELECT " SLUICE_ENTITY_COLUMNS R"sql(
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS wanted (tenant, kind, id, nth)
LEFT JOIN LATERAL (SELECT * FROM entity x WHERE x.tenant = wanted.tenant
    AND x.kind = wanted.kind AND x.id = wanted.id OFFSET 0) e ON true
ORDER BY wanted.nth)sql"};
constexpr Query lock_entities{"lock_entities", "SELECT " SLUICE_ENTITY_COLUMNS R"sql(
FROM unnest($1::text[], $2::text[], $3::text[]) u(tenant, kind, id)
CROSS JOIN LATERAL (SELECT * FROM entity x WHERE x.tenant = u.tenant
    AND x.kind = u.kind AND x.id = u.id FOR UPDATE) e)sql"};
constexpr Query list_entity_events{"list_entity_events", R"sql(
SELECT seq, at, action, from_state, to_state, actor, job, detail FROM entity_event
WHERE tenant = $1::text AND kind = $2::text AND id = $3::text AND seq > $4::int8
ORDER BY seq LIMIT $5::int8)sql"};

// {} stands for the number of the condition's parameter. These have no name and are planned each
// time, with their values.
constexpr char list_entities[] = "SELECT " SLUICE_ENTITY_COLUMNS " FROM entity e WHERE true";
constexpr char count_entities[] = "SELECT count(*) FROM entity e WHERE true";
constexpr char is_tenant[] = " AND e.tenant = ${}::text";
constexpr char is_kind[] = " AND e.kind = ${}::text";
constexpr char is_parent[] = " AND e.parent = ${}::text";
constexpr char is_in_states[] = " AND e.state = ANY(${}::text[])";
constexpr char is_before[] = " AND e.number < ${}::int8 ORDER BY e.number DESC";
constexpr char limited[] = " LIMIT ${}::int8";
constexpr char without_the_first[] = " OFFSET ${}::int8";

// Puts a query together. Values become parameters, never text.
class Builder {
  public:
    Builder(const char* beginning, const EntityFilter& filter) : text_(beginning) {
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

    Result ask(Connection& connection) const { return connection.ask({"", text_}, params_); }

  private:
    std::string text_;
    Params params_;
};

Params params_of(std::span<const EntityKey> keys) {
    Columns columns{Type::text, Type::text, Type::text};
    for (const EntityKey& key : keys) columns.add(key.tenant, key.kind, key.id);
    return Params(columns);
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

std::vector<std::optional<Entity>> EntityQueries::find(std::span<const EntityKey> keys) {
    std::vector<std::optional<Entity>> entities;
    if (keys.empty()) return entities;
    const Result rows = connection_.ask(find_entities, params_of(keys));
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

std::vector<Entity> EntityQueries::list(const EntityFilter& filter, std::int64_t before,
                                        std::int64_t offset, int limit) {
    Builder query(list_entities, filter);
    query.add(is_before, before);
    query.add(limited, std::int64_t{std::max(limit, 0)});
    query.add(without_the_first, std::max<std::int64_t>(offset, 0));
    return entities_of(query.ask(connection_));
}

std::int64_t EntityQueries::count(const EntityFilter& filter) {
    const Result counted = Builder(count_entities, filter).ask(connection_);
    return Row(counted, 0).integer();
}

std::vector<EntityEvent> EntityQueries::events(const EntityKey& key, std::int64_t after,
                                               int limit) {
    const Result rows = connection_.ask(
        list_entity_events,
        Params(key.tenant, key.kind, key.id, after, std::int64_t{std::max(limit, 0)}));
    std::vector<EntityEvent> events;
    for (int i = 0; i < rows.rows(); ++i) {
        Row row(rows, i);
        events.push_back(read_entity_event(row, key));
    }
    return events;
}

}  // namespace sluice::postgres
