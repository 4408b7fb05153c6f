#include "infrastructure/sqlite/database/tables.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "infrastructure/sql/sql_text.hpp"
#include "infrastructure/sqlite/database/connection.hpp"
#include "infrastructure/sqlite/database/migrations.hpp"
#include "infrastructure/sqlite/database/statement.hpp"
#include "tests/support/builders.hpp"

namespace sluice::sqlite {
namespace tables_test {

namespace fs = std::filesystem;

using Names = std::set<std::string>;

template <class Table>
Names named_in(const Table& table) {
    Names names;
    std::apply([&](const auto&... column) { (names.emplace(column.name), ...); }, table.columns);
    return names;
}

class SqliteTables : public testing::Test {
  protected:
    ~SqliteTables() override { fs::remove_all(folder); }

    Names stored_in(std::string_view table) {
        Statement query(connection.get(), "SELECT name FROM pragma_table_info(?)");
        query.with(table);
        Names names;
        while (query.next_row()) names.emplace(query.text(0));
        return names;
    }

    template <class Table>
    void expect_same_columns(const Table& table) {
        EXPECT_EQ(named_in(table), stored_in(table.name)) << table.name;
    }

    static fs::path made(const fs::path& path) {
        fs::create_directories(path);
        return path;
    }

    fs::path folder =
        made(fs::temp_directory_path() / ("sluice-tables-" + std::to_string(getpid())));
    Connection connection = open_writer(folder / "store.db", 0);
};

// A column that a migration adds and a table does not name would never be written.
TEST_F(SqliteTables, HaveTheColumnsOfTheSchema) {
    migrate(connection.get(), embedded_migrations(), at(0));

    expect_same_columns(tables::job_table);
    expect_same_columns(tables::requeued_table);
    expect_same_columns(tables::lease_table);
    expect_same_columns(tables::done_table);
    expect_same_columns(tables::event_table);
    expect_same_columns(tables::log_table);
    expect_same_columns(tables::dependency_table);
    expect_same_columns(tables::unfinished_table);
    expect_same_columns(tables::request_table);
    expect_same_columns(tables::entity_table);
    expect_same_columns(tables::entity_event_table);
    expect_same_columns(tables::meter_table);
    expect_same_columns(tables::source_table);
    expect_same_columns(tables::source_hour_table);
}

TEST_F(SqliteTables, AttributesThatAreNotAsTheyWereWrittenMakeAnEntityDamaged) {
    const std::pair<const char*, bool> texts[] = {
        {"{}", false},
        {R"({"a":1,"b":{"c": [2]}})", false},
        {R"({"a":1,"a":2})", true},
        {R"({"b":1,"a":2})", true},
        {R"({"a":1} )", true},
        {R"({"a":)", true},
        {"[1]", true},
        {"", true},
    };
    Statement select(connection.get(), "SELECT 't','k','i',1,NULL,'s',1,0,0,?,NULL,NULL");
    for (const auto& [text, is_damaged] : texts) {
        ASSERT_TRUE(select.with(std::string_view(text)).next_row());
        Row row(select);
        const Entity entity = read_entity(row);
        EXPECT_EQ(entity.damaged, is_damaged) << text;
        EXPECT_EQ(entity.seal, std::nullopt);
    }
}

TEST_F(SqliteTables, ADetailOrAHashThatCannotBeReadMakesAnEntitysEventDamaged) {
    const auto is_damaged = [&](std::string_view detail, std::string_view hash) {
        Statement select(connection.get(), "SELECT 't','k','i',1,0,'a','','s','x',NULL,?,?");
        EXPECT_TRUE(select.with(detail, hash).next_row());
        Row row(select);
        return read_entity_event(row).damaged;
    };
    const std::string hash(32, 'h');

    EXPECT_FALSE(is_damaged(R"({"a":1})", hash));
    EXPECT_TRUE(is_damaged(R"({"a":)", hash));
    EXPECT_TRUE(is_damaged(R"({"a":1})", "short"));
}

struct Thing {
    std::string name;
    std::string note;  // may be empty
    std::optional<int> weight;
    std::vector<std::string> tags;
    LogLevel level = LogLevel::info;
};
constexpr auto thing_table = rows::table(
    "thing", rows::key(rows::text<&Thing::name>("name")), rows::given_text<&Thing::note>("note"),
    rows::small<&Thing::weight>("weight"),
    rows::column<rows::NullIfEmpty<rows::Texts<&Thing::tags>>>("tags", rows::ColumnType::text),
    rows::one_of<LogLevel::info, LogLevel::error, LogLevel::warn, &Thing::level>("level"));

class SqliteThings : public SqliteTables {
  protected:
    SqliteThings() {
        execute(connection.get(), "CREATE TABLE thing (name, note, weight, tags, level)");
    }

    void insert(const Thing& thing) {
        constexpr auto text = "INSERT INTO thing (" + rows::all_columns<thing_table> +
                              ") VALUES (" + rows::all_columns<thing_table, "?"> + ")";
        Statement insert(connection.get(), text);
        rows::write_row([&](const auto&... values) { insert.with(values...).run(); }, thing_table,
                        std::tie(thing));
    }

    // The row of an outer join; nothing: no row.
    std::optional<Thing> find(std::string_view name) {
        constexpr auto text = "SELECT " + rows::read_columns<thing_table, "t.@"> +
                              ", 'behind' FROM (SELECT ? AS wanted) LEFT JOIN thing t ON name = "
                              "wanted";
        Statement select(connection.get(), text);
        EXPECT_TRUE(select.with(name).next_row());
        Row row(select);
        Thing thing;
        const bool there = rows::read_row_if_there(row, thing_table, std::tie(thing));
        damage = row.damage();
        EXPECT_EQ(row.text(), "behind");
        return there ? std::optional(thing) : std::nullopt;
    }

    std::string damage;
};

TEST_F(SqliteThings, AreReadAsTheyWereWritten) {
    insert({"whole", "a note", 7, {"x", "y:z"}, LogLevel::error});
    insert({"bare", "", std::nullopt, {}, LogLevel::info});

    const auto whole = find("whole"), bare = find("bare");

    EXPECT_EQ(whole->note, "a note");
    EXPECT_EQ(whole->weight, 7);
    EXPECT_EQ(whole->tags, (std::vector<std::string>{"x", "y:z"}));
    EXPECT_EQ(whole->level, LogLevel::error);
    EXPECT_EQ(bare->note, "");
    EXPECT_EQ(bare->weight, std::nullopt);
    EXPECT_TRUE(bare->tags.empty());
    EXPECT_EQ(damage, "");
}

TEST_F(SqliteThings, WhatIsNotGivenIsNull) {
    insert({"bare", "", std::nullopt, {}, LogLevel::info});

    Statement query(connection.get(), "SELECT note, weight, tags, level FROM thing");
    ASSERT_TRUE(query.next_row());

    EXPECT_TRUE(query.is_null(0) && query.is_null(1) && query.is_null(2));
    EXPECT_FALSE(query.is_null(3));
}

TEST_F(SqliteThings, ARowThatIsMissingIsPassedOver) {
    EXPECT_EQ(find("nobody").has_value(), false);
}

TEST_F(SqliteThings, ADamagedColumnIsNamedByTheTable) {
    insert({"a", "", std::nullopt, {}, LogLevel::info});
    insert({"b", "", std::nullopt, {}, LogLevel::info});
    execute(connection.get(), "UPDATE thing SET level = 9 WHERE name = 'a'");
    execute(connection.get(), "UPDATE thing SET tags = 'no list' WHERE name = 'b'");

    EXPECT_EQ(find("a")->level, LogLevel::warn);
    EXPECT_EQ(damage, "level");
    EXPECT_TRUE(find("b")->tags.empty());
    EXPECT_EQ(damage, "tags");
}

}  // namespace tables_test
}  // namespace sluice::sqlite
