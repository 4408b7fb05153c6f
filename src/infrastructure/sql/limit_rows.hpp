#pragma once

#include <optional>
#include <string>

#include "domain/limits/limit_rules.hpp"
#include "infrastructure/sql/table.hpp"

// How the buckets of meters and the counts of sources look as rows; see job_rows.hpp. Rules are
// entities. What is active is not stored: it is counted from the leases.
namespace sluice {

// A meter of a rule with a rate, as it was after its last start.
struct StoredMeter {
    MeterId id = 0;
    std::string rule{};
    std::string name{};
    MeterState state{};  // without what is active

    bool operator==(const StoredMeter&) const = default;
};

// A source that jobs ever had.
struct StoredSource {
    std::string tenant{};
    std::string source{};
    std::optional<Timestamp> last_job_at{};

    bool operator==(const StoredSource&) const = default;
};

// What a source did in one hour; `hour` counts since 1970.
struct StoredSourceHour {
    std::string tenant{};
    std::string source{};
    std::int64_t hour = 0;
    std::int64_t submitted = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;

    bool operator==(const StoredSourceHour&) const = default;
};

namespace rows {

struct StartsCodec {
    template <class Parts>
    static std::optional<MadeText> write(const Parts& parts) {
        std::string text = part<StoredMeter>(parts).state.starts.text();
        return text.empty() ? std::nullopt : std::optional(MadeText{std::move(text)});
    }
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view) {
        part<StoredMeter>(parts).state.starts = StartsOfHour::parse(row.text());
    }
};

// clang-format off
inline constexpr auto meter_table = table("meter",
    key(integer<&StoredMeter::id>("id")),
    text<&StoredMeter::rule>("rule"),
    text<&StoredMeter::name>("name"),
    changing(integer<&StoredMeter::state, &MeterState::full_at_ns>("full_at_ns")),
    changing(integer<&StoredMeter::state, &MeterState::owed_until_ns>("owed_until_ns")),
    changing(column<StartsCodec>("starts", ColumnType::text)));

inline constexpr auto source_table = table("source",
    key(text<&StoredSource::tenant>("tenant")),
    key(text<&StoredSource::source>("source")),
    changing(integer<&StoredSource::last_job_at>("last_job_at")));

inline constexpr auto source_hour_table = table("source_hour",
    key(text<&StoredSourceHour::tenant>("tenant")),
    key(text<&StoredSourceHour::source>("source")),
    key(integer<&StoredSourceHour::hour>("hour")),
    changing(integer<&StoredSourceHour::submitted>("submitted")),
    changing(integer<&StoredSourceHour::succeeded>("succeeded")),
    changing(integer<&StoredSourceHour::failed>("failed")));
// clang-format on

}  // namespace rows
}  // namespace sluice
