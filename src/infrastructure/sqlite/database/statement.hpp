#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "domain/jobs/ids.hpp"
#include "domain/values/sha256.hpp"
#include "domain/values/time.hpp"
#include "infrastructure/sql/row_reader.hpp"
#include "infrastructure/sql/table.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace sluice::sqlite {

// Turns a result code that is not a success into an exception of the stores: StoreUnavailable when
// a later try may succeed, StoreFull when the disk is full. Ends the process when the file or the
// disk can no longer be trusted (see the source), and aborts when the code means a bug.
[[noreturn]] void fail(sqlite3* connection, int code, std::string_view doing);

// Runs statements that return nothing, e.g. "BEGIN".
void execute(sqlite3* connection, const char* sql);

// Ends the open transaction, if there is one, and leaves the file as it was before.
void roll_back(sqlite3* connection) noexcept;

// One prepared statement. Values are bound in the order of the placeholders; no value is ever
// pasted into SQL text. Text is bound without a copy, so it must live until the statement has run,
// except MadeText.
class Statement {
  public:
    Statement(sqlite3* connection, std::string_view sql);

    // Starts the statement anew with these values.
    template <class... Values>
    Statement& with(const Values&... values) {
        rewind();
        check_count(sizeof...(values));
        bind_from(0, values...);
        return *this;
    }

    // Binds these values to the placeholders after the first `offset` ones; for statements whose
    // number of placeholders varies. Call rewind() before the first.
    template <class... Values>
    void bind_from(int offset, const Values&... values) {
        (bind(++offset, values), ...);
    }

    // Runs a statement that returns no rows.
    void run();

    // The same, and checks that it changed exactly one row.
    void run_on_one_row();

    // Moves to the next row; false once there are no more.
    bool next_row();

    // Ends a read before its last row, which frees its resources.
    void rewind();

    bool is_null(int column) const;
    std::int64_t integer(int column) const;
    std::string_view text(int column) const;  // text or blob; valid until the next step

    // How many rows the last run changed.
    int changes() const;

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* handle) const;
    };

    void bind_null(int index);
    void bind_integer(int index, std::int64_t value);
    void bind_text(int index, std::string_view value);
    void bind_made(int index, const std::string& value);  // copied
    void bind_blob(int index, std::string_view value);

    void bind(int index, std::string_view value) { bind_text(index, value); }
    void bind(int index, const rows::MadeText& value) { bind_made(index, value.text); }
    void bind(int index, const Digest& value) { bind_blob(index, bytes_of(value)); }
    void bind(int index, JobId value) { bind_integer(index, value.value); }
    void bind(int index, LeaseToken value) { bind_integer(index, value.value); }
    void bind(int index, Timestamp value) { bind_integer(index, to_micros(value)); }
    void bind(int index, Duration value) { bind_integer(index, value.count()); }
    template <class Number>
    requires(std::is_integral_v<Number> || std::is_enum_v<Number>) void bind(int index,
                                                                             Number value) {
        bind_integer(index, static_cast<std::int64_t>(value));
    }
    template <class Value>
    void bind(int index, const std::optional<Value>& value) {
        value ? bind(index, *value) : bind_null(index);
    }

    void check_count(std::size_t values) const;
    [[noreturn]] void fail_with(int code) const;
    void require(int code) const;

    std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// Reads the columns of the current row one after the other, so that a reader depends only on the
// order of the columns in the SQL text.
class Row : public RowReader<Row> {
  public:
    explicit Row(const Statement& statement) : statement_(statement) {}

    bool next_is_null() const { return statement_.is_null(column_); }
    void skip(int columns) { column_ += columns; }

    std::int64_t integer() { return statement_.integer(column_++); }
    std::string_view text() { return statement_.text(column_++); }
    std::string_view raw() { return text(); }

  private:
    const Statement& statement_;
    int column_ = 0;
};

}  // namespace sluice::sqlite
