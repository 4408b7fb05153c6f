#pragma once

#include <string>

#include "infrastructure/sqlite/database/statement.hpp"

namespace sluice::sqlite {

// The whole text of an insert of `rows` rows, from its beginning up to the list of its columns.
std::string insert_sql(std::string_view beginning, int rows);

// Inserts rows, several in one step: the fixed cost of a step is a third of that of a narrow row.
//
// A statement of many rows that can fail half-way keeps a copy of each page that it changes, unless
// it says OR ROLLBACK; so the texts do. When one fails, the session is over in any case.
class Insert {
  public:
    Insert(sqlite3* connection, std::string_view beginning);

    // Calls bind(statement, offset, item) for each item, which has to bind its row after the first
    // `offset` placeholders with Statement::bind_from. The values must live until run() returns.
    template <class Items, class Bind>
    void run(const Items& items, Bind&& bind) {
        std::size_t left = items.size();
        for (auto item = items.begin(); left > 0;) {
            Statement& statement = left >= group_rows ? many_ : one_;
            const std::size_t rows = left >= group_rows ? group_rows : 1;
            statement.rewind();
            for (std::size_t row = 0; row < rows; ++row, ++item) {
                bind(statement, static_cast<int>(row) * columns_, *item);
            }
            statement.run();
            left -= rows;
        }
    }

  private:
    static constexpr std::size_t group_rows = 8;

    int columns_;
    Statement one_;
    Statement many_;
};

}  // namespace sluice::sqlite
