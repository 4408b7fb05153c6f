#include "application/entities/remembered_entities.hpp"

#include <algorithm>

namespace sluice {

std::vector<std::optional<Entity>> RememberedEntities::find(std::span<const EntityKey> keys) {
    std::vector<EntityKey> unknown;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(unknown),
                 [&](const EntityKey& key) { return !found_.contains(key); });
    if (!unknown.empty()) {
        std::vector<std::optional<Entity>> read = inner_.find(unknown);
        for (std::size_t i = 0; i < unknown.size(); ++i) found_[unknown[i]] = std::move(read[i]);
    }
    std::vector<std::optional<Entity>> entities;
    for (const EntityKey& key : keys) entities.push_back(found_.at(key));
    return entities;
}

std::vector<Entity> RememberedEntities::list(const EntityFilter& filter, std::int64_t before,
                                             std::int64_t offset, int limit) {
    const Question question{filter.tenant, filter.kind, filter.parent, filter.states,
                            before,        offset,      limit};
    const auto known = listed_.find(question);
    if (known != listed_.end()) return known->second;
    return listed_[question] = inner_.list(filter, before, offset, limit);
}

}  // namespace sluice
