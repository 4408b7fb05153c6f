#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "domain/jobs/ids.hpp"
#include "domain/values/sha256.hpp"
#include "domain/values/time.hpp"
#include "infrastructure/sql/table.hpp"

namespace sluice::postgres {

using Type = rows::ColumnType;

// Rows for a statement that takes one array per column and joins them with unnest(): each column is
// encoded as a binary array while the rows are added, so that nothing is copied twice.
class Columns {
  public:
    Columns(std::initializer_list<Type> types);

    // One array for each of these columns of a table; see table_rows.hpp.
    template <class... Codecs, rows::Role... roles>
    explicit Columns(const std::tuple<rows::Column<Codecs, roles>...>& columns) {
        columns_.reserve(sizeof...(Codecs));
        std::apply([this](const auto&... column) { (add_column(column.type), ...); }, columns);
    }

    // Adds a row: one value for each column, in order. NULL for an empty optional.
    template <class... Values>
    void add(const Values&... values) {
        check_count(sizeof...(values));
        std::size_t column = 0;
        (put(column++, values), ...);
        ++rows_;
    }

    std::size_t rows() const { return rows_; }
    bool empty() const { return rows_ == 0; }
    void clear();

    // The finished arrays, one per column; valid until the next change.
    std::size_t size() const { return columns_.size(); }
    std::string_view array(std::size_t column) const;

  private:
    struct Column {
        Type type;
        mutable std::string bytes;  // its header is finished by array()
        bool has_null = false;
    };

    void add_column(Type type);
    void check_count(std::size_t values) const;
    void put_null(std::size_t column);
    void put_number(std::size_t column, std::int64_t value);  // small, integer or flag
    void put_bytes(std::size_t column, std::string_view value);
    void put_text(std::size_t column, std::string_view value);  // see text_code.hpp

    void put(std::size_t column, std::string_view value) { put_text(column, value); }
    void put(std::size_t column, const rows::MadeText& value) { put_text(column, value.text); }
    void put(std::size_t column, const Digest& value) { put_bytes(column, bytes_of(value)); }
    void put(std::size_t column, JobId value) { put_number(column, value.value); }
    void put(std::size_t column, LeaseToken value) { put_number(column, value.value); }
    void put(std::size_t column, Timestamp value) { put_number(column, to_micros(value)); }
    void put(std::size_t column, Duration value) { put_number(column, value.count()); }
    template <class Number>
    requires(std::is_integral_v<Number> || std::is_enum_v<Number>) void put(std::size_t column,
                                                                            Number value) {
        put_number(column, static_cast<std::int64_t>(value));
    }
    template <class Value>
    void put(std::size_t column, const std::optional<Value>& value) {
        value ? put(column, *value) : put_null(column);
    }

    std::vector<Column> columns_;
    std::size_t rows_ = 0;
};

// The parameters of one statement, in binary, in the order of $1, $2…
class Params {
  public:
    Params() = default;
    template <class... Values>
    explicit Params(const Values&... values) {
        (add(values), ...);
    }

    // One parameter per column.
    Params& add(const Columns& columns);

    Params& add(std::int64_t value);
    Params& add(int value);  // int4
    Params& add(bool value);
    Params& add(std::string_view value);  // text
    Params& add(const std::string& value) { return add(std::string_view(value)); }
    Params& add(const char* value) { return add(std::string_view(value)); }
    Params& add(const Digest& value);
    Params& add(JobId value) { return add(value.value); }
    Params& add(LeaseToken value) { return add(value.value); }
    Params& add(Timestamp value) { return add(to_micros(value)); }
    Params& add(Duration value) { return add(std::int64_t{value.count()}); }
    Params& add(const std::vector<JobId>& values);         // int8[]
    Params& add(const std::vector<std::int64_t>& values);  // int8[]
    Params& add(const std::vector<std::string>& values);   // text[]
    Params& add_raw(std::string_view bytes);               // as it is, in binary

    std::size_t size() const { return values_.size(); }
    std::string_view value(std::size_t index) const { return values_[index]; }

  private:
    std::vector<std::string> values_;
};

}  // namespace sluice::postgres
