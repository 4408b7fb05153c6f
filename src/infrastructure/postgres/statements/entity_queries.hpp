#pragma once

#include <optional>
#include <span>
#include <vector>

#include "application/ports/entity_store.hpp"
#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::postgres {

class Writes;

// Reads entities on a connection. Each function is one statement, and so one moment; the caller
// ends the transaction, open or implicit, in which it reads. Writes that were gathered in it are
// sent first.
class EntityQueries final : public EntityReader {
  public:
    explicit EntityQueries(Connection& connection, Writes* gathered = nullptr)
        : connection_(connection), gathered_(gathered) {}

    std::vector<std::optional<Entity>> find(std::span<const EntityKey> keys) override;
    std::vector<Entity> list(const EntityFilter& filter, std::int64_t before, std::int64_t offset,
                             int limit) override;
    std::vector<std::vector<Entity>> lists(std::span<const EntityFilter> filters,
                                           int limit) override;
    std::int64_t count(const EntityFilter& filter) override;
    std::vector<EntityEvent> events(const EntityKey& key, std::int64_t after, int limit) override;

    // The entities that exist, locked one after the other. The keys are sorted.
    std::vector<Entity> lock(std::span<const EntityKey> keys);
    // The same without waiting: EntitiesBusy when another session has locked one of them.
    std::vector<Entity> try_lock(std::span<const EntityKey> keys);

  private:
    Connection& up_to_date();

    Connection& connection_;
    Writes* gathered_;
};

}  // namespace sluice::postgres
