#include "application/ports/entity_store.hpp"

#include <algorithm>

namespace sluice {

bool EntityFilter::accepts(const Entity& entity) const {
    const auto fits = [](const std::string& wanted, const std::string& is) {
        return wanted.empty() || wanted == is;
    };
    return fits(tenant, entity.key.tenant) && fits(kind, entity.key.kind) &&
           fits(parent, entity.parent) &&
           (states.empty() ||
            std::find(states.begin(), states.end(), entity.state) != states.end());
}

std::vector<std::vector<Entity>> EntityReader::lists(std::span<const EntityFilter> filters,
                                                     int limit) {
    std::vector<std::vector<Entity>> found;
    for (const EntityFilter& filter : filters) {
        found.push_back(list(filter, newest_entity, 0, limit));
    }
    return found;
}

}  // namespace sluice
