// Stores that the version before wrote (tests/fixtures): they open, verify and go on.
#include <fstream>
#include <sstream>

#include "e2e/api.hpp"
#include "e2e/change_store.hpp"

namespace sluice::e2e {
namespace {

std::string fixture(const char* name) {
    std::ifstream file(std::string(SLUICE_SOURCE_DIR "/tests/fixtures/") + name);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_FALSE(text.str().empty()) << name;
    return text.str();
}

class OldStore : public testing::Test {
  protected:
    OldStore() {
        if (on_postgres()) {
            postgres::Connection database({.url = store_in_use(store())});
            database.execute("DROP SCHEMA orchestrator CASCADE");
            database.execute(fixture("postgres_step7.sql"));
            database.sync();
        } else {
            change_store(store(), fixture("sqlite_step7.sql"));
        }
        const Ended migrated = run_sluice({"migrate", "up", "--store", store()});
        EXPECT_EQ(migrated.code, 0) << migrated.errors;
    }

    std::string store() const { return "sqlite:" + (folder.path() / "db").string(); }
    Ended verify() const { return run_sluice({"audit", "verify", "--store", store()}); }

    TempFolder folder;
};

TEST_F(OldStore, IsMigratedAndEveryChainInItHolds) {
    const Ended verified = verify();

    EXPECT_EQ(verified.code, 0) << verified.errors;
    EXPECT_TRUE(verified.output.starts_with("12 jobs, 28 events, 2 entities with 2 events"))
        << verified.output;
    EXPECT_NE(verified.output.find("14 of them were begun by an older version"), std::string::npos)
        << verified.output;
}

TEST_F(OldStore, StillHasItsHistoriesCovered) {
    change_store(store(), "UPDATE event SET actor = 'eve' WHERE seq = 2");

    EXPECT_EQ(verify().code, 6);
}

TEST_F(OldStore, GoesOnWithWhatItsJobsWereAt) {
    Engine engine(store());
    Api api(engine.port(), "default");
    const Json lease = api.claim_one({{"types", List{"waits"}}, {"labels", List{"gpu"}}});
    expect_ok(api.log(lease, {Fields{{"message", "a line of the new version"}}}));
    expect_ok(api.succeed(lease));
    const Json again = api.claim_one({{"types", List{"build"}}});
    expect_ok(api.log(again, {Fields{{"message", "a replay"}}}));
    expect_ok(api.succeed(again));
    expect_ok(api.http.post("/api/v1/entities/app/shop",
                            R"({"attributes":{"name":"Shop of the new version"}})"));
    EXPECT_EQ(engine.stop(), 0);

    const Ended verified = verify();

    EXPECT_EQ(verified.code, 0) << verified.errors;
}

}  // namespace
}  // namespace sluice::e2e
