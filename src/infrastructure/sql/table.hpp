#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "domain/jobs/ids.hpp"
#include "domain/values/sha256.hpp"
#include "domain/values/time.hpp"

// Tables as data: one constexpr Table for each kind of row says what its columns are called, what
// they hold and which member has the value. SQL texts (sql_text.hpp), writers and readers of every
// store follow from it, so that a column is named only once. Nothing of it is left at run time: a
// codec is a type, and the loops below unroll.
//
// A row is made from, and read into, one or more parts (std::tie(spec, lease)); each column names
// the part that it belongs to by its member pointer.
namespace sluice::rows {

// A column's type in PostgreSQL: int4, int8, text, bytea, boolean. SQLite knows three of them.
enum class ColumnType { small, integer, text, bytes, flag };

// `key` columns find a row, `changing` ones are written again when it changes.
enum class Role { key, fixed, changing };

// A codec has `write(parts)`, which gives a value that the stores can bind, and `read(row, parts,
// name)`, which takes the next column of a row and notes its damage under this name.
template <class CodecType, Role column_role = Role::fixed>
struct Column {
    using Codec = CodecType;
    static constexpr Role role = column_role;

    std::string_view name;
    ColumnType type;
};

template <class... Columns>
struct Table {
    std::string_view name;
    std::tuple<Columns...> columns;
};

template <class... Columns>
constexpr Table<Columns...> table(std::string_view name, Columns... columns) {
    return {name, {columns...}};
}
template <class... Columns>
constexpr Table<Columns...> table(std::string_view name, std::tuple<Columns...> columns) {
    return {name, columns};
}

// The table with more columns after its own: those that only one store has.
template <class... Columns, class... More>
constexpr Table<Columns..., More...> extended(const Table<Columns...>& base, More... more) {
    return {base.name, std::tuple_cat(base.columns, std::tuple<More...>(more...))};
}

// ── members that have the values ──

// The part of this type.
template <class Part, class... Parts>
constexpr auto& part(const std::tuple<Parts&...>& parts) {
    constexpr bool is_it[] = {std::is_same_v<std::remove_const_t<Parts>, Part>...};
    constexpr std::size_t index = [&] {
        std::size_t i = 0;
        while (i < sizeof...(Parts) && !is_it[i]) ++i;
        return i;
    }();
    static_assert(index < sizeof...(Parts), "the row has a part that the column belongs to");
    return std::get<index>(parts);
}

template <class Class, class Member>
Class class_of_member(Member Class::*);

// The member at the end of a path: &Entity::key, &EntityKey::id.
template <auto first, auto... rest, class Parts>
constexpr auto& at(const Parts& parts) {
    using Part = decltype(class_of_member(first));
    return ((part<Part>(parts).*first).*....*rest);
}

// ── codecs ──

// A text that was made for the row, and that no other object keeps.
struct MadeText {
    std::string text;
};

// An empty string stands for a value that was not given, and is stored as NULL.
inline std::optional<std::string_view> given(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

template <class Value>
struct IsOptional : std::false_type {};
template <class Value>
struct IsOptional<std::optional<Value>> : std::true_type {};

template <class Row, class Value>
void read_value(Row& row, Value& value, std::string_view column) {
    if constexpr (IsOptional<Value>::value) {
        if (row.next_is_null()) {
            row.skip(1);
            value.reset();
        } else {
            read_value(row, value.emplace(), column);
        }
    } else if constexpr (std::is_same_v<Value, std::string>) {
        value = row.text();
    } else if constexpr (std::is_same_v<Value, Digest>) {
        value = row.digest(column);
    } else if constexpr (std::is_same_v<Value, Timestamp>) {
        value = row.time();
    } else if constexpr (std::is_same_v<Value, bool>) {
        value = row.flag();
    } else if constexpr (std::is_integral_v<Value>) {
        value = static_cast<Value>(row.integer());
    } else {
        value = Value{row.integer()};
    }
}

// The value as it is; an optional one that is missing is NULL.
template <auto... path>
struct Plain {
    template <class Parts>
    static const auto& write(const Parts& parts) {
        return at<path...>(parts);
    }
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view name) {
        read_value(row, at<path...>(parts), name);
    }
};

// A text that is NULL when it is empty.
template <auto... path>
struct Given : Plain<path...> {
    template <class Parts>
    static std::optional<std::string_view> write(const Parts& parts) {
        return given(at<path...>(parts));
    }
};

// A JSON text, which goes into answers as it is and is checked before; NULL when it is empty.
template <auto... path>
struct Json : Given<path...> {
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view name) {
        at<path...>(parts) = row.json(name);
    }
};

// One of an enumeration's values from `first` to `last`; `otherwise` is read for any other.
template <auto first, auto last, auto otherwise, auto... path>
struct OneOf : Plain<path...> {
    template <class Row, class Parts>
    static void read(Row& row, const Parts& parts, std::string_view name) {
        auto& value = at<path...>(parts);
        if constexpr (IsOptional<std::remove_reference_t<decltype(value)>>::value) {
            if (row.next_is_null()) {
                row.skip(1);
                value.reset();
                return;
            }
        }
        value = row.one_of(first, last, otherwise, name);
    }
};

// A codec that makes a text, with NULL for an empty one.
template <class Codec>
struct NullIfEmpty : Codec {
    template <class Parts>
    static std::optional<MadeText> write(const Parts& parts) {
        MadeText made = Codec::write(parts);
        return made.text.empty() ? std::nullopt : std::optional(std::move(made));
    }
};

// Stored for the sake of an index or a query, and never read back.
template <class Codec>
struct WrittenOnly : Codec {};

// ── columns ──

template <class Codec>
constexpr Column<Codec> column(std::string_view name, ColumnType type) {
    return {name, type};
}
template <auto... path>
constexpr auto small(std::string_view name) {
    return column<Plain<path...>>(name, ColumnType::small);
}
template <auto... path>
constexpr auto integer(std::string_view name) {
    return column<Plain<path...>>(name, ColumnType::integer);
}
template <auto... path>
constexpr auto flag(std::string_view name) {
    return column<Plain<path...>>(name, ColumnType::flag);
}
template <auto... path>
constexpr auto digest(std::string_view name) {
    return column<Plain<path...>>(name, ColumnType::bytes);
}
template <auto... path>
constexpr auto text(std::string_view name) {
    return column<Plain<path...>>(name, ColumnType::text);
}
template <auto... path>
constexpr auto given_text(std::string_view name) {
    return column<Given<path...>>(name, ColumnType::text);
}
template <auto... path>
constexpr auto json(std::string_view name) {
    return column<Json<path...>>(name, ColumnType::text);
}
template <auto first, auto last, auto otherwise, auto... path>
constexpr auto one_of(std::string_view name) {
    return column<OneOf<first, last, otherwise, path...>>(name, ColumnType::small);
}

template <class Codec, Role role>
constexpr Column<Codec, Role::key> key(Column<Codec, role> column) {
    return {column.name, column.type};
}
template <class Codec, Role role>
constexpr Column<Codec, Role::changing> changing(Column<Codec, role> column) {
    return {column.name, column.type};
}
template <class Codec, Role role>
constexpr Column<WrittenOnly<Codec>, role> written_only(Column<Codec, role> column) {
    return {column.name, column.type};
}

// ── choice of columns ──

// changes: the keys, which find a row, and the columns that change.
enum class Which { all, read, changing, keys, changes };

template <class Codec>
inline constexpr bool is_read_back = true;
template <class Codec>
inline constexpr bool is_read_back<WrittenOnly<Codec>> = false;

template <Which which, class Codec, Role role>
constexpr bool is_among(const Column<Codec, role>&) {
    switch (which) {
        case Which::all: return true;
        case Which::read: return is_read_back<Codec>;
        case Which::changing: return role == Role::changing;
        case Which::keys: return role == Role::key;
        case Which::changes: return role == Role::key || role == Role::changing;
    }
    return false;
}

// These columns of the table as a tuple.
template <Which which, class... Columns>
constexpr auto columns_of(const Table<Columns...>& table) {
    const auto one = [](const auto& column) {
        if constexpr (is_among<which>(std::decay_t<decltype(column)>{})) {
            return std::tuple(column);
        } else {
            return std::tuple<>();
        }
    };
    return std::apply([&](const auto&... column) { return std::tuple_cat(one(column)...); },
                      table.columns);
}

// ── writing and reading ──

// Calls write() once with the values of these columns, in the table's order. Texts are those of the
// parts themselves, unless they are MadeText.
template <Which which = Which::all, class Write, class... Columns, class Parts>
void write_row(Write&& write, const Table<Columns...>& table, const Parts& parts) {
    std::apply(
        [&](const auto&... column) {
            write(std::decay_t<decltype(column)>::Codec::write(parts)...);
        },
        columns_of<which>(table));
}

// Reads the columns that sql_text.hpp's `read_columns` lists.
template <class Row, class... Columns, class Parts>
void read_row(Row& row, const Table<Columns...>& table, const Parts& parts) {
    std::apply(
        [&](const auto&... column) {
            (std::decay_t<decltype(column)>::Codec::read(row, parts, column.name), ...);
        },
        columns_of<Which::read>(table));
}

// The same where an outer join may have found no such row; false: it has not, and nothing was
// changed. The first column that is read must never be NULL.
template <class Row, class... Columns, class Parts>
bool read_row_if_there(Row& row, const Table<Columns...>& table, const Parts& parts) {
    if (row.next_is_null()) {
        row.skip(static_cast<int>(std::tuple_size_v<decltype(columns_of<Which::read>(table))>));
        return false;
    }
    read_row(row, table, parts);
    return true;
}

}  // namespace sluice::rows
