#include "infrastructure/postgres/connection/settings.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/postgres.hpp"

namespace sluice::postgres {
namespace settings_test {

class PostgresSettings : public testing::Test {
  protected:
    // The check's message when the database has this setting; "" when there is none.
    std::string complaint_about(const std::string& setting) {
        const std::string name = url.substr(url.rfind('/') + 1);
        Connection({.url = url}).execute("ALTER DATABASE " + name + " SET " + setting);
        Connection connection({.url = url});
        try {
            check_durability(connection);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    }

    const std::string url = fresh_database();
};

TEST_F(PostgresSettings, MayBeAnyThatKeepsWhatWasAcknowledged) {
    for (const char* value : {"on", "local", "remote_write", "remote_apply"}) {
        EXPECT_EQ(complaint_about(std::string("synchronous_commit = ") + value), "") << value;
    }
}

TEST_F(PostgresSettings, AreRefusedWhenACrashWouldLoseWhatWasAcknowledged) {
    const std::string complaint = complaint_about("synchronous_commit = off");

    EXPECT_NE(complaint.find("set synchronous_commit = on"), std::string::npos) << complaint;
}

}  // namespace settings_test
}  // namespace sluice::postgres
