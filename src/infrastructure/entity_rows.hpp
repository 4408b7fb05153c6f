#pragma once

#include <optional>
#include <string_view>

#include "application/json_values.hpp"
#include "domain/entity.hpp"
#include "infrastructure/job_rows.hpp"

// How entities and their events look as rows; see job_rows.hpp.
namespace sluice {

// `attributes` is to_json() of the entity's.
template <class Write>
void write_entity(Write&& write, const Entity& entity, const std::string& attributes) {
    write(entity.key.tenant, entity.key.kind, entity.key.id, entity.number, given(entity.parent),
          entity.state, entity.revision, entity.created_at, entity.updated_at, attributes);
}

template <class Write>
void write_entity_event(Write&& write, const EntityEvent& event) {
    write(event.key.tenant, event.key.kind, event.key.id, event.seq, event.at, event.action,
          event.from, event.to, event.actor, event.job, given(event.detail));
}

template <class Row>
Entity read_entity(Row& row) {
    Entity entity;
    entity.key.tenant = row.text();
    entity.key.kind = row.text();
    entity.key.id = row.text();
    entity.number = row.integer();
    entity.parent = row.text();
    entity.state = row.text();
    entity.revision = row.integer();
    entity.created_at = row.time();
    entity.updated_at = row.time();
    entity.attributes = json_members(row.text());
    return entity;
}

// Without the key of the entity.
template <class Row>
EntityEvent read_entity_event(Row& row, const EntityKey& key) {
    EntityEvent event;
    event.key = key;
    event.seq = row.integer();
    event.at = row.time();
    event.action = row.text();
    event.from = row.text();
    event.to = row.text();
    event.actor = row.text();
    const std::optional<std::int64_t> job = row.maybe_integer();
    if (job) event.job = JobId{*job};
    event.detail = row.json("detail");
    return event;
}

}  // namespace sluice
