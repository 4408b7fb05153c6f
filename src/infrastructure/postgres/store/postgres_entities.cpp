#include "infrastructure/postgres/store/postgres_entities.hpp"

#include <algorithm>

#include "domain/values/check.hpp"

namespace sluice::postgres {
namespace {

void sort_and_unify(std::vector<EntityKey>& keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace

void PostgresEntities::reserve(std::vector<EntityKey> keys) {
    check(known_.empty(), "a session waits for entities once, before it has any");
    if (keys.empty()) return;
    sort_and_unify(keys);
    std::vector<Entity> found = queries_.lock(keys);
    take(std::move(keys), std::move(found));
}

void PostgresEntities::know(std::vector<EntityKey> keys) {
    std::erase_if(keys, [&](const EntityKey& key) { return known_.contains(key); });
    if (keys.empty()) return;
    sort_and_unify(keys);
    std::vector<Entity> found = queries_.try_lock(keys);
    take(std::move(keys), std::move(found));
}

void PostgresEntities::take(std::vector<EntityKey> keys, std::vector<Entity> found) {
    for (EntityKey& key : keys) known_.emplace(std::move(key), std::nullopt);
    for (Entity& entity : found) {
        EntityKey key = entity.key;
        known_.insert_or_assign(std::move(key), std::move(entity));
    }
}

std::vector<std::optional<Entity>> PostgresEntities::find(std::span<const EntityKey> keys) {
    know({keys.begin(), keys.end()});
    std::vector<std::optional<Entity>> found;
    found.reserve(keys.size());
    for (const EntityKey& key : keys) found.push_back(known_.at(key));
    return found;
}

void PostgresEntities::put(std::span<const Entity> entities) {
    work_.permits.rules();  // before this session writes any
    std::vector<EntityKey> keys;
    for (const Entity& entity : entities) keys.push_back(entity.key);
    know(std::move(keys));
    for (const Entity& entity : entities) put_known(entity);
}

// An entity that was looked for and not found is inserted, which fails when another session was
// faster.
void PostgresEntities::put_known(Entity entity) {
    std::optional<Entity>& known = known_.at(entity.key);
    if (known) {
        entity.number = known->number;
        entity.created_at = known->created_at;
        work_.writes.update_entity(entity);
    } else {
        work_.writes.insert_entity(entity);
    }
    known = std::move(entity);
}

void PostgresEntities::append(std::span<const EntityEvent> events) {
    for (const EntityEvent& event : events) work_.writes.insert_entity_event(event);
}

}  // namespace sluice::postgres
