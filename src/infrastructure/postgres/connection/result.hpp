#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "domain/jobs/ids.hpp"
#include "infrastructure/sql/row_reader.hpp"

struct pg_result;

namespace sluice::postgres {

// The result of one statement, in binary.
class Result {
  public:
    Result() = default;
    explicit Result(pg_result* handle) : handle_(handle) {}

    int rows() const;
    bool is_null(int row, int column) const;
    std::string_view bytes(int row, int column) const;
    int affected() const;              // rows that an INSERT, UPDATE or DELETE changed
    std::string_view command() const;  // the command tag, e.g. "COMMIT" or "ROLLBACK"

  private:
    struct Clear {
        void operator()(pg_result* handle) const;
    };
    std::unique_ptr<pg_result, Clear> handle_;
};

// Reads the columns of one row one after the other; see infrastructure/sql/row_reader.hpp.
class Row : public RowReader<Row> {
  public:
    Row(const Result& result, int row) : result_(result), row_(row) {}

    bool next_is_null() const { return result_.is_null(row_, column_); }
    void skip(int columns) { column_ += columns; }

    std::int64_t integer();  // int2, int4, int8 or boolean; 0 for NULL
    std::string text();      // decoded, see text_code.hpp; "" for NULL
    std::string_view raw();  // the column's bytes, e.g. a ctid

  private:
    const Result& result_;
    int row_ = 0;
    int column_ = 0;
};

}  // namespace sluice::postgres
