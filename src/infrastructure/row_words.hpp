#pragma once

#include <cstdint>
#include <optional>

#include "domain/time.hpp"

namespace sluice {

// What the readers of rows have in common: the words of job_rows.hpp that follow from integer() and
// next_is_null().
template <class Row>
class RowWords {
  public:
    int small() { return static_cast<int>(row().integer()); }
    bool flag() { return row().integer() != 0; }
    Timestamp time() { return from_micros(row().integer()); }
    Duration duration() { return Duration{row().integer()}; }

    // Nothing where the column is NULL.
    std::optional<std::int64_t> maybe_integer() {
        const bool null = row().next_is_null();
        const std::int64_t value = row().integer();
        return null ? std::nullopt : std::optional(value);
    }
    std::optional<Timestamp> maybe_time() {
        const std::optional<std::int64_t> micros = maybe_integer();
        return micros ? std::optional(from_micros(*micros)) : std::nullopt;
    }

  private:
    Row& row() { return static_cast<Row&>(*this); }
};

}  // namespace sluice
