#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/values/time.hpp"

// Shared by the stores' migrations. Each store reads and applies the steps in its own way.
namespace sluice {

// One step of a schema. Its text is never changed once it was released.
struct Migration {
    int number = 0;
    std::string_view name;
    std::string_view text;
};

std::string checksum_of(const Migration& migration);

// A step as the store has it.
struct AppliedMigration {
    int number = 0;
    std::string name;
    std::string checksum;
    Timestamp at{};
};

struct MigrationStatus {
    int number = 0;
    std::string name;
    std::optional<Timestamp> applied_at;
    bool matches = true;  // the store's step and the binary's are the same
};

// Every step that the store or the binary knows, in order.
std::vector<MigrationStatus> compare_migrations(std::span<const AppliedMigration> applied,
                                                std::span<const Migration> known);

// The steps that are still to be applied, in order. Throws std::runtime_error when the store has a
// step that this binary does not know or knows with another text.
std::vector<Migration> missing_migrations(std::span<const AppliedMigration> applied,
                                          std::span<const Migration> known);

}  // namespace sluice
