#pragma once

#include <map>
#include <tuple>

#include "application/ports/entity_store.hpp"

namespace sluice {

// A reader that reads each entity, and each list, once. Its answers may be old; so it lives no
// longer than a session.
class RememberedEntities final : public EntityReader {
  public:
    explicit RememberedEntities(EntityReader& inner) : inner_(inner) {}

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit) override;
    std::int64_t count(const EntityFilter& filter) override { return inner_.count(filter); }
    std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after, int limit) override {
        return inner_.events(key, after, limit);
    }

  private:
    using Question = std::tuple<std::string, std::string, std::string, std::vector<std::string>,
                                std::int64_t, std::int64_t, int>;

    EntityReader& inner_;
    std::map<EntityKey, std::optional<Entity>> found_;
    std::map<Question, std::vector<Entity>> listed_;
};

}  // namespace sluice
