#include "domain/values/check.hpp"
#include "infrastructure/memory/memory_session.hpp"

// The part of a MemoryStore's session that deals with entities.
namespace sluice {

std::vector<std::optional<Entity>> MemoryEntities::find(std::span<const EntityKey> keys) {
    return work_.records.entities.find(keys);
}

void MemoryEntities::put(std::span<const Entity> entities) {
    for (const Entity& entity : entities) {
        const auto stored = work_.records.entities.entities.find(entity.key);
        if (stored == work_.records.entities.entities.end()) {
            add(entity);
        } else {
            write(stored->second, entity);
        }
    }
}

void MemoryEntities::add(const Entity& entity) {
    EntityRecords& records = work_.records.entities;
    check(records.keys.try_emplace(entity.number, entity.key).second,
          "an entity's number is its own");
    records.entities.emplace(entity.key, entity);
    work_.can_undo([&records, key = entity.key, number = entity.number] {
        records.entities.erase(key);
        records.keys.erase(number);
    });
    work_.use_number(entity.number);
}

void MemoryEntities::write(Entity& stored, const Entity& entity) {
    work_.can_undo([&records = work_.records.entities, before = stored] {
        records.entities.at(before.key) = before;
    });
    Entity written = entity;
    written.number = stored.number;
    written.created_at = stored.created_at;
    stored = std::move(written);
}

void MemoryEntities::append(std::span<const EntityEvent> events) {
    for (const EntityEvent& event : events) {
        std::vector<EntityEvent>& list = work_.records.entities.events[event.key];
        check(list.empty() || list.back().seq < event.seq,
              "history comes in the order of its numbers");
        list.push_back(event);
        work_.can_undo([&list] { list.pop_back(); });
    }
}

}  // namespace sluice
