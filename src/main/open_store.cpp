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

[[noreturn]] void refuse(const std::string& url) {
    throw std::runtime_error(fmt::format(
        "\"{}\" is not a store; give memory: or sqlite:PATH, for example sqlite:sluice.db", url));
}

std::filesystem::path sqlite_path(const std::string& url) {
    const std::string path = url.substr(sqlite_scheme.size());
    if (path.empty()) refuse(url);
    return path;
}

}  // namespace

std::unique_ptr<Store> open_store(const std::string& url, Timestamp now) {
    if (url == "memory:") return std::make_unique<MemoryStore>();
    if (url.starts_with(sqlite_scheme)) return std::make_unique<SqliteStore>(sqlite_path(url), now);
    refuse(url);
}

std::unique_ptr<JobReader> open_reader(const std::string& url) {
    if (!url.starts_with(sqlite_scheme)) refuse(url);
    const std::filesystem::path path = sqlite_path(url);
    if (!std::filesystem::exists(path)) {
        throw std::runtime_error(fmt::format("there is no store at {}", path.string()));
    }
    return std::make_unique<sqlite::SqliteReader>(path);
}

}  // namespace sluice
