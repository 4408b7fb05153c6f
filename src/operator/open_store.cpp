#include "operator/open_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include "infrastructure/memory/memory_store.hpp"
#include "infrastructure/postgres/schema/former_schema.hpp"
#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/postgres/statements/postgres_reader.hpp"
#include "infrastructure/sqlite/database/migrations.hpp"
#include "infrastructure/sqlite/reading/sqlite_reader.hpp"
#include "infrastructure/sqlite/store/sqlite_store.hpp"
#include "infrastructure/system/log.hpp"

namespace sluice {
namespace {

constexpr std::chrono::seconds database_patience{30};
constexpr std::chrono::milliseconds database_pause{250};

[[noreturn]] void refuse(const std::string& url) {
    throw std::runtime_error(
        fmt::format("\"{}\" is not a store; give sqlite:PATH, for example sqlite:sluice.db, "
                    "postgres://USER:PASSWORD@HOST:5432/DATABASE, or memory:",
                    shown_store(url)));
}

std::filesystem::path sqlite_path(const std::string& url) {
    if (!url.starts_with(sqlite_scheme) || url.size() == sqlite_scheme.size()) refuse(url);
    const std::filesystem::path path = url.substr(sqlite_scheme.size());
    if (!std::filesystem::is_directory(path)) return path;
    throw std::runtime_error(fmt::format("{} is a directory; name a file in it, such as sqlite:{}",
                                         path.string(), (path / "sluice.db").string()));
}

postgres::ConnectOptions connect_options(const Config& config) {
    return {.url = config.store, .schema = config.store_schema};
}

std::vector<MigrationStatus> postgres_migrations(const Config& config) {
    postgres::Connection connection(connect_options(config));
    return postgres::migration_status(connection);
}

// The tables of such a store would not be found; and they are of an earlier form.
void refuse_former_schema(const Config& config) {
    postgres::Connection connection(connect_options(config));
    if (!postgres::is_in_former_schema(connection)) return;
    throw std::runtime_error(fmt::format(
        "the store in the database {} is in the schema \"{}\" of an earlier version: sluice "
        "migrate "
        "up renames it to \"{}\", once no engine of that version runs",
        shown_store(config.store), postgres::former_schema().text(), config.store_schema.text()));
}

bool has_any(const std::vector<MigrationStatus>& steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [](const MigrationStatus& step) { return step.applied_at.has_value(); });
}

}  // namespace

void check_store_url(const std::string& url) {
    if (!is_postgres(url) && url != "memory:") sqlite_path(url);
}

std::filesystem::path existing_path(const std::string& url) {
    if (url == "memory:") {
        throw std::runtime_error(
            "memory: keeps nothing to look into; give sqlite:PATH or postgres://…");
    }
    std::filesystem::path path = sqlite_path(url);
    if (!std::filesystem::exists(path)) {
        throw std::runtime_error(fmt::format("there is no store at {}", path.string()));
    }
    return path;
}

// Reports the wait once. A failure that cannot pass, such as a wrong password, is not waited for.
void await_database(const Config& config) {
    const auto end = std::chrono::steady_clock::now() + database_patience;
    for (bool has_said = false;; std::this_thread::sleep_for(database_pause)) {
        try {
            postgres::Connection connection(connect_options(config));
            return;
        } catch (const StoreUnavailable& unavailable) {
            if (std::chrono::steady_clock::now() >= end) {
                throw std::runtime_error(fmt::format("the database has not answered for {} s: {}",
                                                     database_patience.count(),
                                                     unavailable.what()));
            }
            if (std::exchange(has_said, true)) continue;
            log::warn("the database does not answer yet; trying again for a while",
                      log::field("error", unavailable.what()));
        }
    }
}

std::unique_ptr<Store> open_store(const std::string& url, Timestamp now,
                                  std::optional<std::size_t> reserve) {
    if (url == "memory:") return std::make_unique<MemoryStore>();
    return std::make_unique<SqliteStore>(sqlite_path(url), now,
                                         SqliteStore::Limits{.reserve_bytes = reserve});
}

postgres::Database database_of(const Config& config) {
    return {.url = config.store, .schema = config.store_schema};
}

bool store_exists(const Config& config) {
    const std::string& url = config.store;
    if (is_postgres(url)) return has_any(postgres_migrations(config));
    return url.starts_with(sqlite_scheme) && std::filesystem::exists(sqlite_path(url));
}

std::unique_ptr<JobReader> open_reader(const Config& config) {
    const std::string& url = config.store;
    if (!is_postgres(url)) return std::make_unique<sqlite::SqliteReader>(existing_path(url));
    refuse_former_schema(config);
    if (!store_exists(config)) {
        throw std::runtime_error(
            fmt::format("there is no store in the database {}: it has no "
                        "schema \"{}\"; the first engine makes it",
                        shown_store(url), config.store_schema.text()));
    }
    return std::make_unique<postgres::PostgresReader>(connect_options(config));
}

std::vector<MigrationStatus> store_migrations(const Config& config) {
    return is_postgres(config.store) ? postgres_migrations(config)
                                     : sqlite::migration_status(existing_path(config.store));
}

void migrate_store(const Config& config, Timestamp now) {
    if (is_postgres(config.store)) {
        postgres::migrate(connect_options(config));
    } else {
        open_store(config.store, now);
    }
}

}  // namespace sluice
