#include "infrastructure/sql/migration.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "domain/values/sha256.hpp"

namespace sluice {
namespace {

[[noreturn]] void refuse(const MigrationStatus& stranger, std::span<const Migration> known) {
    const int newest = known.empty() ? 0 : known.back().number;
    if (stranger.number > newest) {
        throw std::runtime_error(fmt::format(
            "the store was written by a newer version: it has migration {}, and this one knows "
            "none above {:04}; use the newer version",
            stranger.name, newest));
    }
    throw std::runtime_error(
        fmt::format("migration {} was applied to the store with another text than this version "
                    "has; use the version that the store was made with",
                    stranger.name));
}

}  // namespace

std::string checksum_of(const Migration& migration) {
    return to_hex(sha256(migration.text));
}

std::vector<MigrationStatus> compare_migrations(std::span<const AppliedMigration> applied,
                                                std::span<const Migration> known) {
    std::map<int, MigrationStatus> statuses;
    std::map<int, std::string_view> checksums;
    for (const AppliedMigration& step : applied) {
        statuses[step.number] = {step.number, step.name, step.at, false};
        checksums[step.number] = step.checksum;
    }
    for (const Migration& migration : known) {
        const auto found = checksums.find(migration.number);
        MigrationStatus& status = statuses[migration.number];
        status.number = migration.number;
        status.name = migration.name;
        status.matches = found == checksums.end() || found->second == checksum_of(migration);
    }
    std::vector<MigrationStatus> list;
    for (auto& [number, status] : statuses) list.push_back(std::move(status));
    return list;
}

std::vector<Migration> missing_migrations(std::span<const AppliedMigration> applied,
                                          std::span<const Migration> known) {
    std::map<int, MigrationStatus> statuses;
    for (MigrationStatus& status : compare_migrations(applied, known)) {
        if (!status.matches) refuse(status, known);
        statuses[status.number] = std::move(status);
    }
    std::vector<Migration> missing;
    for (const Migration& migration : known) {
        if (!statuses[migration.number].applied_at) missing.push_back(migration);
    }
    return missing;
}

}  // namespace sluice
