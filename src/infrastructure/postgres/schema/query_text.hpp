#pragma once

#include "infrastructure/postgres/connection/connection.hpp"
#include "infrastructure/sql/sql_text.hpp"

// Statements that follow from the columns of a table. Rows and keys come as one array per column
// (table_rows.hpp).
namespace sluice::postgres::sql {

using rows::all_columns;
using rows::changing_columns;
using rows::columns_of_change;
using rows::key_columns;
using rows::read_columns;
using rows::table_name;

// A query whose text was put together by the compiler. It must be a constant, since a Query refers
// to its text.
template <std::size_t length>
struct BuiltQuery {
    std::string_view name;
    rows::FixedText<length> text;

    // NOLINTNEXTLINE(google-explicit-constructor): it is used as a Query would be
    constexpr operator Query() const { return {name, text.view()}; }
};
template <std::size_t length>
constexpr BuiltQuery<length> query(std::string_view name, const rows::FixedText<length>& text) {
    return {name, text};
}

// Arrays that are only inserted stand in the list of a SELECT, which streams them.
template <const auto& table>
inline constexpr auto insert_rows = "INSERT INTO " + table_name<table> + " (" + all_columns<table> +
                                    ") SELECT " + all_columns<table, "unnest($#::%[])">;

// In the order of their keys, so that sessions which insert the same keys wait for each other in
// turn.
template <const auto& table>
inline constexpr auto insert_sorted =
    "INSERT INTO " + table_name<table> + " (" + all_columns<table> + ") SELECT * FROM unnest(" +
    all_columns<table, "$#::%[]"> + ") u(" + all_columns<table> + ") ORDER BY " +
    key_columns<table, "u.@">;

// The clause after an insert of rows that may exist, up to a condition.
template <const auto& table>
inline constexpr auto or_change = " DO UPDATE SET " + changing_columns<table, "@ = excluded.@">;

// The keys of rows as a relation u, and the condition that finds a row x by one of them.
template <const auto& table>
inline constexpr auto keys_as_u =
    "unnest(" + key_columns<table, "$#::%[]"> + ") u(" + key_columns<table> + ")";
template <const auto& table>
inline constexpr auto x_is_u = key_columns<table, "x.@ = u.@", " AND ">;

// Of rows that exist and that this session has locked, so that their order does not matter. It
// costs two thirds of an insert that finds them.
template <const auto& table>
inline constexpr auto change_rows =
    "UPDATE " + table_name<table> + " x SET " + changing_columns<table, "@ = u.@"> +
    " FROM unnest(" + columns_of_change<table, "$#::%[]"> + ") u(" + columns_of_change<table> +
    ") WHERE " + x_is_u<table>;

template <const auto& table>
inline constexpr auto delete_rows =
    "DELETE FROM " + table_name<table> + " WHERE ctid = ANY(ARRAY(SELECT y.ctid FROM " +
    keys_as_u<table> + " CROSS JOIN LATERAL (SELECT ctid FROM " + table_name<table> + " x WHERE " +
    x_is_u<table> + " OFFSET 0) y))";

template <const auto& table>
inline constexpr auto rows_by_keys =
    "SELECT " + read_columns<table, "y.@"> + " FROM " + keys_as_u<table> +
    " CROSS JOIN LATERAL (SELECT * FROM " + table_name<table> + " x WHERE " + x_is_u<table>;

// Locks rows in the order of their keys, which come sorted, and returns those that exist.
template <const auto& table>
inline constexpr auto lock_rows = rows_by_keys<table> + " FOR UPDATE) y";
// The same, or fails at once when another session has locked one of them.
template <const auto& table>
inline constexpr auto try_lock_rows = rows_by_keys<table> + " FOR UPDATE NOWAIT) y";

}  // namespace sluice::postgres::sql
