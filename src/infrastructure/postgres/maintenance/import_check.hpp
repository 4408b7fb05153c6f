#pragma once

#include <functional>

#include "infrastructure/postgres/connection/connection.hpp"
#include "infrastructure/sql/whole_store.hpp"

namespace sluice::postgres {

// How many of each were copied or checked.
struct Imported {
    std::int64_t jobs = 0;
    std::int64_t events = 0;
    std::int64_t lines = 0;
    std::int64_t requests = 0;  // idempotency keys
    std::int64_t entities = 0;
    std::int64_t entity_events = 0;

    bool operator==(const Imported&) const = default;
};

// Compares the writes of the open transaction with its source: the counts, each job and each entity
// field by field, each log line, each event of an entity, buckets and sources; and verifies every
// chain of events. Throws std::runtime_error with the first difference.
void check_import(WholeStore& source, Connection& connection, const Imported& copied,
                  const std::function<void(const Imported&)>& on_page);

}  // namespace sluice::postgres
