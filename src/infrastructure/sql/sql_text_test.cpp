#include "infrastructure/sql/sql_text.hpp"

#include <gtest/gtest.h>

namespace sluice::rows {
namespace sql_text_test {

struct Thing {
    std::string name;
    std::int64_t size = 0;
    int weight = 0;
    bool broken = false;
    Digest seal{};
};

constexpr auto thing_table =
    table("thing", key(text<&Thing::name>("name")), changing(integer<&Thing::size>("size")),
          small<&Thing::weight>("weight"), written_only(changing(flag<&Thing::broken>("broken"))),
          digest<&Thing::seal>("seal"));

TEST(SqlText, ListsTheColumnsOfATable) {
    EXPECT_EQ(all_columns<thing_table>.view(), "name, size, weight, broken, seal");
    EXPECT_EQ(read_columns<thing_table>.view(), "name, size, weight, seal");
    EXPECT_EQ(changing_columns<thing_table>.view(), "size, broken");
    EXPECT_EQ(key_columns<thing_table>.view(), "name");
    EXPECT_EQ(columns_of_change<thing_table>.view(), "name, size, broken");
    EXPECT_EQ(table_name<thing_table>.view(), "thing");
}

TEST(SqlText, WritesEachColumnAsThePatternSays) {
    constexpr auto arrays = all_columns<thing_table, "unnest($#::%[])">;
    EXPECT_EQ(arrays.view(),
              "unnest($1::text[]), unnest($2::int8[]), unnest($3::int4[]), unnest($4::bool[]), "
              "unnest($5::bytea[])");
    constexpr auto changes = changing_columns<thing_table, "@ = excluded.@">;
    EXPECT_EQ(changes.view(), "size = excluded.size, broken = excluded.broken");
    constexpr auto conditions = read_columns<thing_table, "t.@ = ?", " AND ">;
    EXPECT_EQ(conditions.view(), "t.name = ? AND t.size = ? AND t.weight = ? AND t.seal = ?");
}

TEST(SqlText, NumbersMoreThanNineColumns) {
    static constexpr auto wide = table(
        "wide", std::tuple_cat(thing_table.columns, thing_table.columns, thing_table.columns));

    constexpr auto numbers = all_columns<wide, "$#", "">;

    EXPECT_EQ(numbers.view(), "$1$2$3$4$5$6$7$8$9$10$11$12$13$14$15");
}

TEST(SqlText, JoinsLiteralsAndLists) {
    constexpr auto select = "select " + read_columns<thing_table, "t.@"> + " from thing t";

    EXPECT_EQ(select.view(), "select t.name, t.size, t.weight, t.seal from thing t");
    EXPECT_STREQ(select.c_str(), std::string(select.view()).c_str());
}

TEST(SqlText, ATableIsExtendedByTheColumnsOfOneStore) {
    static constexpr auto extended_table =
        extended(thing_table, small<&Thing::weight>("extra_weight"));

    EXPECT_EQ(key_columns<extended_table>.view(), "name");
    EXPECT_EQ(read_columns<extended_table>.view(), "name, size, weight, seal, extra_weight");
}

}  // namespace sql_text_test
}  // namespace sluice::rows
