#pragma once

#include <vector>

#include "application/ports/store.hpp"
#include "infrastructure/sql/limit_rows.hpp"

namespace sluice {

// All that a store holds, for a copy while no other process uses it.
class WholeStore {
  public:
    virtual ~WholeStore() = default;

    virtual JobReader& jobs() = 0;

    // The requests under idempotency keys that come after this one, in order of tenant and key,
    // `limit` at the most.
    virtual std::vector<IdempotentRequest> requests_after(const IdempotencyKey& last,
                                                          int limit) = 0;

    // Meters as they are stored, which is without active jobs; sources and their last hours. Each
    // in the order of names.
    virtual std::vector<StoredMeter> meters() = 0;
    virtual std::vector<StoredSource> sources() = 0;
    virtual std::vector<StoredSourceHour> source_hours() = 0;

    // No number above it was ever given to a job, a lease or an entity.
    virtual std::int64_t last_id() = 0;
};

}  // namespace sluice
