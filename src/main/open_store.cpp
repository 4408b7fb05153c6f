#include "main/open_store.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "infrastructure/memory/memory_store.hpp"
#include "infrastructure/sqlite/sqlite_reader.hpp"
#include "infrastructure/sqlite/sqlite_store.hpp"

namespace sluice {
namespace {

constexpr std::string_view sqlite_scheme = "sqlite:";

// Without the name and password that some addresses carry.
std::string shown(std::string url) {
    const std::size_t begin = url.find("://");
    const std::size_t end = url.rfind('@');
    if (begin != std::string::npos && end != std::string::npos && end > begin + 3) {
        url.replace(begin + 3, end - begin - 3, "***");
    }
    return url;
}

[[noreturn]] void refuse(const std::string& url) {
    throw std::runtime_error(fmt::format(
        "\"{}\" is not a store; give memory: or sqlite:PATH, for example sqlite:sluice.db",
        shown(url)));
}

std::filesystem::path sqlite_path(const std::string& url) {
    const std::string path = url.substr(sqlite_scheme.size());
    if (path.empty()) refuse(url);
    return path;
}

std::filesystem::path existing_path(const std::string& url) {
    if (url == "memory:") {
        throw std::runtime_error("memory: keeps nothing to look into; give sqlite:PATH");
    }
    if (!url.starts_with(sqlite_scheme)) refuse(url);
    std::filesystem::path path = sqlite_path(url);
    if (!std::filesystem::exists(path)) {
        throw std::runtime_error(fmt::format("there is no store at {}", path.string()));
    }
    return path;
}

}  // namespace

std::unique_ptr<Store> open_store(const std::string& url, Timestamp now) {
    if (url == "memory:") return std::make_unique<MemoryStore>();
    if (url.starts_with(sqlite_scheme)) return std::make_unique<SqliteStore>(sqlite_path(url), now);
    refuse(url);
}

bool store_exists(const std::string& url) {
    return url.starts_with(sqlite_scheme) && std::filesystem::exists(sqlite_path(url));
}

std::unique_ptr<JobReader> open_reader(const std::string& url) {
    return std::make_unique<sqlite::SqliteReader>(existing_path(url));
}

std::vector<sqlite::MigrationStatus> store_migrations(const std::string& url) {
    return sqlite::migration_status(existing_path(url));
}

}  // namespace sluice
