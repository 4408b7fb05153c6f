#pragma once

#include "domain/entities/entity.hpp"
#include "infrastructure/sql/table.hpp"
#include "json/json_values.hpp"

// How entities and their events look as rows; see job_rows.hpp.
namespace sluice {
namespace rows {

// Attributes that were not written by to_json() are damaged: read and written again they would be
// another text.
struct AttributesCodec {
    template <class Parts>
    static MadeText write(const Parts& parts) {
        return {to_json(part<Entity>(parts).attributes)};
    }
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view name) {
        Attributes& attributes = part<Entity>(parts).attributes;
        const std::string text(row.text());
        attributes = json_members(text);
        if (to_json(attributes) != text) row.note_damage(name);
    }
};

// clang-format off

// An existing entity keeps its number and created_at.
inline constexpr auto entity_table = table("entity",
    key(text<&Entity::key, &EntityKey::tenant>("tenant")),
    key(text<&Entity::key, &EntityKey::kind>("kind")),
    key(text<&Entity::key, &EntityKey::id>("id")),
    integer<&Entity::number>("number"),
    changing(given_text<&Entity::parent>("parent")),
    changing(text<&Entity::state>("state")),
    changing(integer<&Entity::revision>("revision")),
    integer<&Entity::created_at>("created_at"),
    changing(integer<&Entity::updated_at>("updated_at")),
    changing(column<AttributesCodec>("attributes", ColumnType::text)),
    changing(digest<&Entity::head>("head_hash")),
    changing(digest<&Entity::seal>("seal")));

inline constexpr auto entity_event_table = table("entity_event",
    key(text<&EntityEvent::key, &EntityKey::tenant>("tenant")),
    key(text<&EntityEvent::key, &EntityKey::kind>("kind")),
    key(text<&EntityEvent::key, &EntityKey::id>("id")),
    key(integer<&EntityEvent::seq>("seq")),
    integer<&EntityEvent::at>("at"),
    text<&EntityEvent::action>("action"),
    text<&EntityEvent::from>("from_state"),
    text<&EntityEvent::to>("to_state"),
    text<&EntityEvent::actor>("actor"),
    integer<&EntityEvent::job>("job"),
    json<&EntityEvent::detail>("detail"),
    digest<&EntityEvent::hash>("hash"));

// clang-format on
}  // namespace rows

template <class Row>
Entity read_entity(Row& row) {
    Entity entity;
    rows::read_row(row, rows::entity_table, std::tie(entity));
    entity.damaged = !row.damage().empty();
    return entity;
}

template <class Row>
EntityEvent read_entity_event(Row& row) {
    EntityEvent event;
    rows::read_row(row, rows::entity_event_table, std::tie(event));
    event.damaged = !row.damage().empty();
    return event;
}

}  // namespace sluice
