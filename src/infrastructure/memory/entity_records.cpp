#include "infrastructure/memory/entity_records.hpp"

#include <algorithm>

namespace sluice {

std::vector<std::optional<Entity>> EntityRecords::find(std::span<const EntityKey> wanted) const {
    std::vector<std::optional<Entity>> found;
    found.reserve(wanted.size());
    for (const EntityKey& key : wanted) {
        const auto row = entities.find(key);
        found.push_back(row == entities.end() ? std::nullopt : std::optional(row->second));
    }
    return found;
}

std::vector<Entity> EntityRecords::list(const EntityFilter& filter, std::int64_t before,
                                        std::int64_t offset, int limit) const {
    std::vector<Entity> found;
    for (auto row = keys.lower_bound(before); row != keys.begin() && std::ssize(found) < limit;) {
        --row;
        const Entity& entity = entities.at(row->second);
        if (filter.accepts(entity) && offset-- <= 0) found.push_back(entity);
    }
    return found;
}

std::int64_t EntityRecords::count(const EntityFilter& filter) const {
    return std::count_if(entities.begin(), entities.end(),
                         [&](const auto& row) { return filter.accepts(row.second); });
}

std::vector<EntityEvent> EntityRecords::events_after(const EntityKey& key, std::int64_t after,
                                                     int limit) const {
    std::vector<EntityEvent> found;
    const auto list = events.find(key);
    if (list == events.end()) return found;
    for (const EntityEvent& event : list->second) {
        if (std::ssize(found) >= limit) break;
        if (event.seq > after) found.push_back(event);
    }
    return found;
}

}  // namespace sluice
