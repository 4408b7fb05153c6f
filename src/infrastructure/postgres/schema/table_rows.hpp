#pragma once

#include <tuple>

#include "infrastructure/postgres/connection/columns.hpp"
#include "infrastructure/sql/table.hpp"

namespace sluice::postgres {

// Rows of a table for a statement that takes one array per column: all columns of each row, or only
// some.
template <const auto& table, rows::Which which = rows::Which::all>
class TableRows : public Columns {
  public:
    TableRows() : Columns(rows::columns_of<which>(table)) {}

    // Adds the row that these parts make.
    template <class... Parts>
    void add(const Parts&... parts) {
        rows::write_row<which>([this](const auto&... values) { this->Columns::add(values...); },
                               table, std::tie(parts...));
    }
};

template <const auto& table>
using TableKeys = TableRows<table, rows::Which::keys>;
template <const auto& table>
using TableChanges = TableRows<table, rows::Which::changes>;

}  // namespace sluice::postgres
