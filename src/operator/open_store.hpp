#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "application/ports/store.hpp"
#include "config/config.hpp"
#include "config/store_url.hpp"
#include "infrastructure/sql/migration.hpp"

// Stores by their URLs: memory:, sqlite:PATH, postgres://… All of these throw std::runtime_error
// with the problem of the URL or the store; StoreUnavailable when a database does not answer.
namespace sluice {

// Opens a store that this process owns alone; for one that nodes share see EngineCore. `reserve`:
// bytes that are kept on its disk so that running jobs can end when it is full; nothing: the
// reserve stays as it is.
std::unique_ptr<Store> open_store(const std::string& url, Timestamp now,
                                  std::optional<std::size_t> reserve = std::nullopt);

// Throws unless this is the form of a store's URL. Asks no store.
void check_store_url(const std::string& url);

// The file of a store on SQLite, which must exist.
std::filesystem::path existing_path(const std::string& url);

// Waits half a minute for a database that does not answer: an engine may be started together with
// it, or while it fails over.
void await_database(const Config& config);

// The database of a store on PostgreSQL.
postgres::Database database_of(const Config& config);

// Whether a store exists at the URL, so that a start would open it rather than make one.
bool store_exists(const Config& config);

// Only reads, and may do so while engines use the store.
std::unique_ptr<JobReader> open_reader(const Config& config);

// The steps of the store's schema. Only reads.
std::vector<MigrationStatus> store_migrations(const Config& config);

// Applies the steps that are missing; makes the store if need be.
void migrate_store(const Config& config, Timestamp now);

}  // namespace sluice
