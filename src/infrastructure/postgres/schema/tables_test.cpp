#include "infrastructure/postgres/schema/tables.hpp"

#include <gtest/gtest.h>

#include <map>

#include "infrastructure/postgres/schema/migrations.hpp"
#include "infrastructure/sql/sql_text.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace tables_test {

using Types = std::map<std::string, std::string>;  // of columns, by name

template <class Table>
Types named_in(const Table& table) {
    Types types;
    std::apply(
        [&](const auto&... column) {
            (types.emplace(column.name, rows::sql_type(column.type)), ...);
        },
        table.columns);
    return types;
}

class PostgresTables : public testing::Test {
  protected:
    PostgresTables() { migrate(connection); }

    // A smallint takes the values that an integer can have here, and counts as one.
    Types stored_in(std::string_view table) {
        const Result found = connection.ask({"", R"sql(
SELECT attname::text, typname::text FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped)sql"},
                                            Params(table));
        connection.sync();
        Types types;
        for (int i = 0; i < found.rows(); ++i) {
            Row row(found, i);
            std::string name = row.text();
            const std::string type = row.text();
            types.emplace(std::move(name), type == "int2" ? "int4" : type);
        }
        return types;
    }

    template <class Table>
    void expect_same_columns(const Table& table, const Types& unnamed = {}) {
        Types named = named_in(table);
        named.insert(unnamed.begin(), unnamed.end());
        EXPECT_EQ(named, stored_in(table.name)) << table.name;
    }

    Connection connection{{.url = fresh_database()}};
};

// A column that a migration adds and a table does not name would never be written; a column of
// another type would fail when it is written.
TEST_F(PostgresTables, HaveTheColumnsOfTheSchema) {
    expect_same_columns(tables::job_table);
    expect_same_columns(tables::requeued_table);
    expect_same_columns(tables::lease_table);
    expect_same_columns(tables::done_table);
    expect_same_columns(tables::event_table);
    expect_same_columns(tables::log_table);
    expect_same_columns(tables::request_table);
    expect_same_columns(tables::entity_table);
    expect_same_columns(tables::entity_event_table);
    expect_same_columns(tables::lane_table, {{"number", "int8"}});  // the database counts
    expect_same_columns(tables::ready_table);
    expect_same_columns(tables::timed_table);
    expect_same_columns(tables::parked_table);
    expect_same_columns(tables::blocker_table);
    expect_same_columns(tables::open_dependency_table);
    expect_same_columns(tables::held_table);
}

}  // namespace tables_test
}  // namespace sluice::postgres
