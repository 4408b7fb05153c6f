#pragma once

#include <optional>

#include "domain/values/time.hpp"
#include "infrastructure/postgres/connection/connection.hpp"

namespace sluice::postgres {

// Keeps the tables of limits small. Every committer of every node that ever started counts in rows
// of its own seat: those of seats that are free, and those that did not change for an hour, become
// rows of no seat. Meters of rules that are no longer in force, meters that count nothing and did
// not change for an hour, and hours of sources that no longer count, are removed. Changes no sum.
// Harmless when two nodes do it at once.
class LimitUpkeep {
  public:
    // Returns how many rows it has removed.
    int run(Connection& connection, Timestamp now);

  private:
    int remove_what_rests(Connection& connection, Timestamp now);

    // Which transactions were over at a moment: rows that were written by these are older.
    struct Mark {
        std::int64_t transaction = 0;
        Timestamp at{};
    };
    std::optional<Mark> mark_;
};

}  // namespace sluice::postgres
