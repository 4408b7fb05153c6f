#include "domain/entities/entity.hpp"

#include <functional>

namespace sluice {

std::string to_text(const EntityKey& key) {
    return key.kind + " " + key.id;
}

JobId watch_id(const EntityKey& key) {
    const std::hash<std::string_view> hash;
    const std::size_t mixed = (hash(key.tenant) * 31 + hash(key.kind)) * 31 + hash(key.id);
    return JobId{-static_cast<std::int64_t>(mixed >> 1) - 1};  // negative: no job has it
}

}  // namespace sluice
