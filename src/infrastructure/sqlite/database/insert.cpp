#include "infrastructure/sqlite/database/insert.hpp"

#include <algorithm>

namespace sluice::sqlite {
namespace {

int columns_of(std::string_view beginning) {
    return static_cast<int>(std::count(beginning.begin(), beginning.end(), ',')) + 1;
}

}  // namespace

std::string insert_sql(std::string_view beginning, int rows) {
    std::string row = "(?";
    for (int column = 1; column < columns_of(beginning); ++column) row += ",?";
    row += ')';

    std::string sql(beginning);
    sql += " VALUES ";
    for (int i = 0; i < rows; ++i) {
        if (i > 0) sql += ',';
        sql += row;
    }
    return sql;
}

Insert::Insert(sqlite3* connection, std::string_view beginning)
    : columns_(columns_of(beginning)),
      one_(connection, insert_sql(beginning, 1)),
      many_(connection, insert_sql(beginning, static_cast<int>(group_rows))) {}

}  // namespace sluice::sqlite
