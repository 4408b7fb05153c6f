#include "infrastructure/postgres/connection/columns.hpp"

#include <limits>

#include "domain/values/check.hpp"
#include "infrastructure/postgres/connection/text_code.hpp"

// PostgreSQL's binary formats. Numbers have the most significant byte first; an array is a header
// of five int4 and, for each value, its length as int4 (-1 for NULL) and its bytes.
namespace sluice::postgres {
namespace {

constexpr std::size_t header_bytes = 20;
constexpr std::int32_t null_length = -1;

// The numbers that PostgreSQL gives its types are the same in all databases (pg_type.dat).
std::int32_t type_number(Type type) {
    switch (type) {
        case Type::small: return 23;
        case Type::integer: return 20;
        case Type::text: return 25;
        case Type::bytes: return 17;
        case Type::flag: return 16;
    }
    check(false, "a parameter has one of the types");
    return 0;
}

std::size_t number_bytes(Type type) {
    check(type == Type::small || type == Type::integer || type == Type::flag,
          "a number is given for a column of numbers");
    if (type == Type::flag) return 1;
    return type == Type::small ? 4 : 8;
}

void write_number(char* out, std::int64_t value, std::size_t bytes) {
    auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = bytes; i > 0; --i) {
        out[i - 1] = static_cast<char>(bits & 0xFF);
        bits >>= 8;
    }
}

void append_number(std::string& out, std::int64_t value, std::size_t bytes) {
    const std::size_t at = out.size();
    out.resize(at + bytes);
    write_number(out.data() + at, value, bytes);
}

std::int64_t length_of(std::size_t bytes) {
    check(bytes <= std::numeric_limits<std::int32_t>::max(), "a value is smaller than 2 GiB");
    return static_cast<std::int64_t>(bytes);
}

void write_header(std::string& array, Type type, bool has_null, std::size_t count) {
    const std::int64_t header[] = {/* dimensions */ 1, has_null ? 1 : 0, type_number(type),
                                   length_of(count), /* number of the first value */ 1};
    char* out = array.data();
    for (const std::int64_t part : header) {
        write_number(out, part, 4);
        out += 4;
    }
}

std::string number(std::int64_t value, std::size_t bytes) {
    std::string out;
    append_number(out, value, bytes);
    return out;
}

template <class Values>
std::string array_of(Type type, const Values& values) {
    Columns column{type};
    for (const auto& value : values) column.add(value);
    return std::string(column.array(0));
}

}  // namespace

Columns::Columns(std::initializer_list<Type> types) {
    columns_.reserve(types.size());
    for (const Type type : types) add_column(type);
}

void Columns::add_column(Type type) {
    columns_.push_back({type, std::string(header_bytes, '\0')});
}

void Columns::clear() {
    for (Column& column : columns_) {
        column.bytes.resize(header_bytes);
        column.has_null = false;
    }
    rows_ = 0;
}

std::string_view Columns::array(std::size_t index) const {
    const Column& column = columns_[index];
    write_header(column.bytes, column.type, column.has_null, rows_);
    return column.bytes;
}

void Columns::check_count(std::size_t values) const {
    check(values == columns_.size(), "a row has one value for each column");
}

void Columns::put_null(std::size_t index) {
    Column& column = columns_[index];
    append_number(column.bytes, null_length, 4);
    column.has_null = true;
}

void Columns::put_number(std::size_t index, std::int64_t value) {
    Column& column = columns_[index];
    check(column.type != Type::small || value == static_cast<std::int32_t>(value),
          "a small number has 32 bits");
    const std::size_t bytes = number_bytes(column.type);
    append_number(column.bytes, static_cast<std::int64_t>(bytes), 4);
    append_number(column.bytes, value, bytes);
}

void Columns::put_bytes(std::size_t index, std::string_view value) {
    Column& column = columns_[index];
    check(column.type == Type::bytes, "bytes are given for a column of bytes");
    append_number(column.bytes, length_of(value.size()), 4);
    column.bytes.append(value);
}

void Columns::put_text(std::size_t index, std::string_view value) {
    Column& column = columns_[index];
    check(column.type == Type::text, "text is given for a column of text");
    const std::size_t at = column.bytes.size();
    append_number(column.bytes, 0, 4);
    append_encoded(column.bytes, value);
    write_number(column.bytes.data() + at, length_of(column.bytes.size() - at - 4), 4);
}

Params& Params::add(const Columns& columns) {
    for (std::size_t index = 0; index < columns.size(); ++index) add_raw(columns.array(index));
    return *this;
}

Params& Params::add(std::int64_t value) {
    values_.push_back(number(value, 8));
    return *this;
}

Params& Params::add(int value) {
    values_.push_back(number(value, 4));
    return *this;
}

Params& Params::add(bool value) {
    values_.push_back(number(value ? 1 : 0, 1));
    return *this;
}

Params& Params::add(std::string_view value) {
    append_encoded(values_.emplace_back(), value);
    return *this;
}

Params& Params::add(const Digest& value) {
    return add_raw(bytes_of(value));
}

Params& Params::add(const std::vector<JobId>& values) {
    values_.push_back(array_of(Type::integer, values));
    return *this;
}

Params& Params::add(const std::vector<std::int64_t>& values) {
    values_.push_back(array_of(Type::integer, values));
    return *this;
}

Params& Params::add(const std::vector<std::string>& values) {
    values_.push_back(array_of(Type::text, values));
    return *this;
}

Params& Params::add_raw(std::string_view bytes) {
    values_.emplace_back(bytes);
    return *this;
}

}  // namespace sluice::postgres
