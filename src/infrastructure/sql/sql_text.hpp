#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "infrastructure/sql/table.hpp"

// SQL texts that are put together by the compiler from literals and from the columns of tables.
namespace sluice::rows {

template <std::size_t length>
struct FixedText {
    std::array<char, length + 1> chars{};  // ends with a zero

    constexpr FixedText() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): literals are texts
    constexpr FixedText(const char (&literal)[length + 1]) {
        std::copy_n(literal, length, chars.begin());
    }

    constexpr std::string_view view() const { return {chars.data(), length}; }
    // NOLINTNEXTLINE(google-explicit-constructor): so that it is used as a literal would be
    constexpr operator std::string_view() const { return view(); }
    constexpr const char* c_str() const { return chars.data(); }
};
template <std::size_t size>
FixedText(const char (&)[size]) -> FixedText<size - 1>;

template <std::size_t a, std::size_t b>
constexpr FixedText<a + b> operator+(const FixedText<a>& first, const FixedText<b>& second) {
    FixedText<a + b> joined;
    std::copy_n(first.chars.begin(), a, joined.chars.begin());
    std::copy_n(second.chars.begin(), b, joined.chars.begin() + a);
    return joined;
}
template <std::size_t a, std::size_t size>
constexpr auto operator+(const FixedText<a>& first, const char (&second)[size]) {
    return first + FixedText<size - 1>(second);
}
template <std::size_t size, std::size_t b>
constexpr auto operator+(const char (&first)[size], const FixedText<b>& second) {
    return FixedText<size - 1>(first) + second;
}

constexpr std::string_view sql_type(ColumnType type) {
    switch (type) {
        case ColumnType::small: return "int4";
        case ColumnType::integer: return "int8";
        case ColumnType::text: return "text";
        case ColumnType::bytes: return "bytea";
        case ColumnType::flag: return "bool";
    }
    return {};
}

namespace sql_text {

// Counts characters, and writes them where there is space.
struct Sink {
    char* out = nullptr;
    std::size_t size = 0;

    constexpr void add(char c) {
        if (out != nullptr) out[size] = c;
        ++size;
    }
    constexpr void add(std::string_view text) {
        for (const char c : text) add(c);
    }
    constexpr void add(std::size_t number) {
        if (number >= 10) add(number / 10);
        add(static_cast<char>('0' + number % 10));
    }
};

constexpr void add_column(Sink& sink, std::string_view pattern, std::string_view name,
                          ColumnType type, std::size_t number) {
    for (const char c : pattern) {
        switch (c) {
            case '@': sink.add(name); break;
            case '#': sink.add(number); break;
            case '%': sink.add(sql_type(type)); break;
            default: sink.add(c);
        }
    }
}

template <Which which, class... Columns>
constexpr std::size_t add_list(Sink sink, const Table<Columns...>& table, std::string_view pattern,
                               std::string_view between) {
    std::size_t number = 0;
    std::apply(
        [&](const auto&... column) {
            const auto add = [&](const auto& one) {
                if (!is_among<which>(one)) return;
                if (number > 0) sink.add(between);
                add_column(sink, pattern, one.name, one.type, ++number);
            };
            (add(column), ...);
        },
        table.columns);
    return sink.size;
}

template <Which which, const auto& table, FixedText pattern, FixedText between>
constexpr auto make_list() {
    constexpr std::size_t length = add_list<which>(Sink{}, table, pattern.view(), between.view());
    FixedText<length> text;
    add_list<which>(Sink{text.chars.data()}, table, pattern.view(), between.view());
    return text;
}

template <const auto& table>
constexpr auto make_name() {
    FixedText<table.name.size()> text;
    std::copy_n(table.name.begin(), table.name.size(), text.chars.begin());
    return text;
}

}  // namespace sql_text

template <const auto& table>
inline constexpr auto table_name = sql_text::make_name<table>();

// The columns of a table, each written as the pattern says: @ is its name, # its number in this
// list, counted from one, and % its type. "$#::%[]" gives "$1::int8[], $2::text[]".
template <const auto& table, FixedText pattern = "@", FixedText between = ", ">
inline constexpr auto all_columns = sql_text::make_list<Which::all, table, pattern, between>();

// The same for the columns that read_row() reads, that change, that find a row, and both of these.
template <const auto& table, FixedText pattern = "@", FixedText between = ", ">
inline constexpr auto read_columns = sql_text::make_list<Which::read, table, pattern, between>();
template <const auto& table, FixedText pattern = "@", FixedText between = ", ">
inline constexpr auto changing_columns =
    sql_text::make_list<Which::changing, table, pattern, between>();
template <const auto& table, FixedText pattern = "@", FixedText between = ", ">
inline constexpr auto key_columns = sql_text::make_list<Which::keys, table, pattern, between>();
template <const auto& table, FixedText pattern = "@", FixedText between = ", ">
inline constexpr auto columns_of_change =
    sql_text::make_list<Which::changes, table, pattern, between>();

}  // namespace sluice::rows
