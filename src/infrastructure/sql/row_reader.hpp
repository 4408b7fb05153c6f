#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/values/sha256.hpp"
#include "domain/values/time.hpp"
#include "json/json_reader.hpp"

namespace sluice {

// Shared by the readers of rows: the functions for job_rows.hpp that follow from integer(), raw(),
// text() and next_is_null().
//
// A column can be changed behind the engine's back. A column that no longer holds its written value
// is read as if it were empty, and named by damage(): the row is shown as damaged, and all others
// are served.
template <class Row>
class RowReader {
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

    Digest digest(std::string_view column = "digest") {
        const std::string_view bytes = row().raw();
        Digest digest{};
        if (bytes.size() == digest.size()) {
            std::copy(bytes.begin(), bytes.end(), digest.begin());
        } else {
            note_damage(column);
        }
        return digest;
    }

    // A JSON text that goes into answers as it is; empty where the column is NULL.
    std::string json(std::string_view column) {
        std::string text(row().text());
        if (text.empty()) return text;
        JsonReader reader(text, JsonLimits::depth_possible);
        reader.raw();
        if (reader.finish()) return text;
        note_damage(column);
        return {};
    }

    // A value of an enumeration from `first` to `last`; `otherwise` stands for any other.
    template <class Enum>
    Enum one_of(Enum first, Enum last, Enum otherwise, std::string_view column) {
        const std::int64_t value = row().integer();
        if (value >= static_cast<std::int64_t>(first) && value <= static_cast<std::int64_t>(last)) {
            return static_cast<Enum>(value);
        }
        note_damage(column);
        return otherwise;
    }

    // The first column that was found damaged; empty: none.
    std::string_view damage() const { return damage_; }
    void note_damage(std::string_view column) {
        if (damage_.empty()) damage_ = column;
    }

  private:
    Row& row() { return static_cast<Row&>(*this); }

    std::string_view damage_;  // names of columns are constants
};

}  // namespace sluice
