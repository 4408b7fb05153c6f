#include <gtest/gtest.h>

#include "infrastructure/postgres/connection/connection.hpp"
#include "tests/support/pooler.hpp"
#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace search_path_test {

constexpr Query read_path{"read_path", "SELECT replace(current_setting('search_path'), '\"', '')"};

class PostgresSearchPath : public testing::Test {
  protected:
    static std::string path_of(Connection& connection) {
        return Row(connection.ask(read_path), 0).text();
    }

    const std::string url = fresh_database();
    const std::string expected = SchemaName().text() + ", packs, public";
};

TEST_F(PostgresSearchPath, IsThatOfTheSchemaForEveryKindOfConnection) {
    Connection queue({.url = url, .works_on_queue = true});
    Connection other({.url = url});

    EXPECT_EQ(path_of(queue), expected);
    EXPECT_EQ(path_of(other), expected);
}

// A pooler's session has the path of another client, and keeps no setting of ours.
TEST_F(PostgresSearchPath, HoldsForEveryStatementBehindAPooler) {
    const Pooler pooler;
    for (const bool works_on_queue : {true, false}) {
        Connection connection({.url = pooler.url_for(url), .works_on_queue = works_on_queue});
        ASSERT_TRUE(connection.is_pooled());

        EXPECT_EQ(path_of(connection), expected) << "alone";
        EXPECT_EQ(path_of(connection), expected) << "beside another one";
        connection.sync();
        EXPECT_EQ(path_of(connection), expected) << "after a sync";
        connection.sync();
        connection.begin();
        EXPECT_EQ(path_of(connection), expected) << "in a transaction";
        connection.commit();
        connection.begin_snapshot();
        EXPECT_EQ(path_of(connection), expected) << "in a snapshot";
        connection.commit();
        connection.execute(
            "DO $$ BEGIN IF current_setting('search_path') NOT LIKE '%packs, public' "
            "THEN RAISE 'text'; END IF; END $$");
        connection.execute_alone(
            "DO $$ BEGIN IF current_setting('search_path') LIKE '%packs, public' "
            "THEN RAISE 'something of ours has outlived its transaction'; END IF; END $$");
    }
}

}  // namespace search_path_test
}  // namespace sluice::postgres
