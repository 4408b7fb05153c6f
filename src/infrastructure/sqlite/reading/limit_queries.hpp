#pragma once

#include <map>
#include <span>
#include <vector>

#include "application/ports/entity_store.hpp"
#include "application/ports/limit_store.hpp"
#include "infrastructure/sql/limit_rows.hpp"
#include "infrastructure/sqlite/database/reading.hpp"

namespace sluice::sqlite {

// How many leases each lane has.
std::map<Lane, std::int64_t> leases_by_lane(sqlite3* connection);

// All buckets that are stored.
std::vector<StoredMeter> stored_meters(sqlite3* connection);

// Reads rules and meters from the tables alone, for readers of a store whose engine is elsewhere or
// does not run. The entities must be those of the same connection.
class LimitQueries final : public LimitReader {
  public:
    LimitQueries(sqlite3* connection, Moments moments, EntityReader& entities)
        : connection_(connection), moments_(moments), entities_(entities) {}

    std::shared_ptr<const LimitRules> limit_rules() override;
    std::vector<MeterState> meters(std::span<const MeterId> ids) override;

  private:
    sqlite3* connection_;
    Moments moments_;
    EntityReader& entities_;
    std::shared_ptr<const LimitRules> known_ = LimitRules::none();
};

}  // namespace sluice::sqlite
