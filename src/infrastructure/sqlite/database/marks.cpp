#include "infrastructure/sqlite/database/marks.hpp"

#include <algorithm>

#include "infrastructure/sqlite/database/queries.hpp"

namespace sluice::sqlite {
namespace {

constexpr std::string_view low_water_key = "low_water";
constexpr std::string_view last_id_key = "last_id";

constexpr std::int64_t reserve_ahead = std::int64_t{1000} << 22;  // 1000 ms, see JobId
constexpr std::size_t finishes_per_walk = 4096;
// Twice as far as it needs to keep up, so that it catches up after an old job has held it back, and
// short enough that no command waits for it.
constexpr std::size_t walk_rows_max = 2 * finishes_per_walk;

}  // namespace

Marks::Marks(sqlite3* connection)
    : read_(connection, sql::read_mark),
      write_(connection, sql::write_mark),
      walk_(connection, sql::walk_from_low_water) {
    last_id_ = read(last_id_key);
    reload();
}

void Marks::reload() {
    low_water_ = written_low_water_ = JobId{read(low_water_key)};
    reserved_ = read(last_id_key);
    given_ = last_id_;
    finished_ = 0;
}

void Marks::job_put(JobId id) {
    low_water_ = std::min(low_water_, id);
    number_given(id.value);
}

void Marks::number_given(std::int64_t number) {
    given_ = std::max(given_, number);
}

void Marks::write() {
    if (given_ > reserved_) {
        reserved_ = given_ > INT64_MAX - reserve_ahead ? INT64_MAX : given_ + reserve_ahead;
        write(last_id_key, reserved_);
    }
    if (finished_ >= finishes_per_walk) raise_low_water();
    if (low_water_ != written_low_water_) {
        write(low_water_key, low_water_.value);
        written_low_water_ = low_water_;
    }
}

void Marks::write_exactly() {
    raise_low_water();
    write(low_water_key, low_water_.value);
    write(last_id_key, last_id_);
}

void Marks::raise_low_water() {
    finished_ = 0;
    walk_.with(low_water_, walk_rows_max);
    while (walk_.next_row()) {
        const std::int64_t id = walk_.integer(0);
        const bool has_ended = walk_.integer(1) != 0;
        low_water_ = JobId{has_ended ? id + 1 : id};
        if (!has_ended) break;
    }
    walk_.rewind();
}

std::int64_t Marks::read(std::string_view key) {
    read_.with(key);
    const std::int64_t value = read_.next_row() ? read_.integer(0) : 0;
    read_.rewind();
    return value;
}

void Marks::write(std::string_view key, std::int64_t value) {
    write_.with(value, key).run_on_one_row();
}

}  // namespace sluice::sqlite
