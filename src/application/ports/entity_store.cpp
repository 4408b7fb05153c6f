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

}  // namespace sluice
