#pragma once

#include <memory>
#include <string>
#include <vector>

#include "application/ports/store.hpp"
#include "infrastructure/sqlite/migrations.hpp"

namespace sluice {

// Opens the store that the URL names: memory: or sqlite:PATH. Throws std::runtime_error with what
// is wrong with the URL or the store.
std::unique_ptr<Store> open_store(const std::string& url, Timestamp now);

// Whether there is something at the URL that open_store() would open rather than make.
bool store_exists(const std::string& url);

// Only reads, and may do so while an engine owns the store.
std::unique_ptr<JobReader> open_reader(const std::string& url);

// The steps of the store's schema. Only reads.
std::vector<sqlite::MigrationStatus> store_migrations(const std::string& url);

}  // namespace sluice
