#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "application/ports/limit_store.hpp"

namespace sluice {

// What a MemoryStore knows of the sources of jobs.
struct SourceRecords {
    struct Row {
        std::optional<Timestamp> last_job_at{};
        std::map<std::int64_t, SourceCount> hours{};  // since 1970; only the last 24
    };
    using Key = std::pair<std::string, std::string>;  // tenant, source

    std::map<Key, Row> rows;

    std::vector<SourceCount> list(const std::string& tenant, Timestamp now) const;
    std::int64_t count(const std::string& tenant) const;

    // Whether it did anything in the last 24 hours.
    static bool is_active(const Row& row, Timestamp now);
    static void add(Row& row, const SourceCount& count, Timestamp now);
};

}  // namespace sluice
