#include "infrastructure/postgres/connection/columns.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "infrastructure/postgres/connection/connection.hpp"
#include "tests/support/postgres.hpp"

// Values that are sent in binary, as the server understands them and gives them back.
namespace sluice::postgres {
namespace columns_test {

using namespace std::string_literals;

Connection& server() {
    static Connection connection({.url = test_server_url()});
    return connection;
}

Result ask(std::string_view text, const Params& params) {
    Result result = server().ask({"", text}, params);
    server().sync();
    return result;
}

constexpr std::string_view unnest =
    "SELECT s, i, t, b, f FROM unnest($1::int4[], $2::int8[], $3::text[], $4::bytea[],"
    " $5::boolean[]) WITH ORDINALITY AS r(s, i, t, b, f, n) ORDER BY n";

Columns one_of_each() {
    return Columns{Type::small, Type::integer, Type::text, Type::bytes, Type::flag};
}

TEST(PostgresColumns, ComeBackAsTheyWere) {
    const Digest digest = sha256("x");
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    Columns columns = one_of_each();
    columns.add(-1, least, "grün", digest, true);
    columns.add(std::numeric_limits<int>::max(), largest, "", Digest{}, false);

    const Result result = ask(unnest, Params(columns));

    ASSERT_EQ(result.rows(), 2);
    Row first(result, 0), second(result, 1);
    EXPECT_EQ(first.small(), -1);
    EXPECT_EQ(first.integer(), least);
    EXPECT_EQ(first.text(), "grün");
    EXPECT_EQ(first.digest(), digest);
    EXPECT_TRUE(first.flag());
    EXPECT_EQ(second.small(), std::numeric_limits<int>::max());
    EXPECT_EQ(second.integer(), largest);
    EXPECT_FALSE(second.next_is_null());
    EXPECT_EQ(second.text(), "");
    EXPECT_EQ(second.digest(), Digest{});
    EXPECT_FALSE(second.flag());
}

TEST(PostgresColumns, KeepTheTypesOfTheDomain) {
    Columns columns{Type::integer, Type::integer, Type::integer, Type::integer};
    columns.add(JobId{7}, LeaseToken{8}, from_micros(9), Duration{-10});

    const Result result = ask(
        "SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[])", Params(columns));

    Row row(result, 0);
    EXPECT_EQ(row.integer(), 7);
    EXPECT_EQ(row.integer(), 8);
    EXPECT_EQ(row.time(), from_micros(9));
    EXPECT_EQ(row.duration(), Duration{-10});
}

TEST(PostgresColumns, KeepNulls) {
    Columns columns = one_of_each();
    columns.add(std::optional<int>{}, std::optional<JobId>{}, std::optional<std::string>{},
                std::optional<Digest>{}, std::optional<bool>{});
    columns.add(std::optional(1), std::optional(JobId{2}), std::optional("3"s),
                std::optional(Digest{}), std::optional(true));

    const Result result = ask(unnest, Params(columns));

    for (int column = 0; column < 5; ++column) {
        EXPECT_TRUE(result.is_null(0, column)) << column;
        EXPECT_FALSE(result.is_null(1, column)) << column;
    }
    Row row(result, 0);
    EXPECT_EQ(row.small(), 0);
    EXPECT_EQ(row.maybe_integer(), std::nullopt);
    EXPECT_EQ(row.text(), "");
}

TEST(PostgresColumns, WithoutRowsAreEmptyArrays) {
    const Columns columns = one_of_each();
    EXPECT_EQ(ask(unnest, Params(columns)).rows(), 0);
    EXPECT_EQ(
        Row(ask("SELECT cardinality($1::text[])", Params(std::vector<std::string>{})), 0).integer(),
        0);
}

TEST(PostgresColumns, CanBeUsedAgain) {
    Columns columns{Type::text};
    columns.add(std::optional<std::string>{});
    columns.add("old");

    columns.clear();
    columns.add("new");

    const Result result = ask("SELECT * FROM unnest($1::text[])", Params(columns));
    ASSERT_EQ(result.rows(), 1);
    EXPECT_EQ(Row(result, 0).text(), "new");
}

TEST(PostgresColumns, KeepTextWithEveryByteThatUtf8Has) {
    std::string ascii;
    for (char c = 0; c < 127; ++c) ascii += c;
    const std::vector<std::string> texts{
        ascii,      "\0"s,    "\1"s,    "\0\0"s,   "\1\1"s,  "\1z"s,        "\1a"s,
        "a\0b\1c"s, "end\1"s, "end\0"s, "\0first", "z\0z\1", "{\"a\":0}\0", "\xEF\xBF\xBF"};
    Columns columns{Type::text};
    for (const std::string& text : texts) columns.add(text);

    const Result result = ask(
        "SELECT t FROM unnest($1::text[]) WITH ORDINALITY AS r(t, n) ORDER BY n", Params(columns));

    for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_EQ(Row(result, static_cast<int>(i)).text(), texts[i]) << i;
    }
}

TEST(PostgresColumns, KeepTextWithNulApartFromOthers) {
    const std::vector<std::string> texts{"\0"s, "\1"s, "\1z"s, "\1a"s, "z", "a", "", "\0z"s};

    const Result result =
        ask("SELECT count(DISTINCT t) FROM unnest($1::text[]) AS r(t)", Params(texts));

    EXPECT_EQ(Row(result, 0).integer(), static_cast<std::int64_t>(texts.size()));
}

TEST(PostgresParams, ComeBackAsTheyWere) {
    const std::vector<JobId> ids{{5}, {-6}};
    const Result result =
        ask("SELECT $1::int8, $2::int4, $3::boolean, $4::text, $5::bytea, ($6::int8[])[2],"
            " ($7::int8[])[1], ($8::text[])[2], $9::int8",
            Params(std::int64_t{1} << 40, -2, true, "a\0b"s, sha256("y"), ids,
                   std::vector<std::int64_t>{7}, std::vector<std::string>{"", "\0"s}, JobId{9}));

    Row row(result, 0);
    EXPECT_EQ(row.integer(), std::int64_t{1} << 40);
    EXPECT_EQ(row.small(), -2);
    EXPECT_TRUE(row.flag());
    EXPECT_EQ(row.text(), "a\0b"s);
    EXPECT_EQ(row.digest(), sha256("y"));
    EXPECT_EQ(row.integer(), -6);
    EXPECT_EQ(row.integer(), 7);
    EXPECT_EQ(row.text(), "\0"s);
    EXPECT_EQ(row.integer(), 9);
}

}  // namespace columns_test
}  // namespace sluice::postgres
