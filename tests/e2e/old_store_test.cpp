// Stores that the previous version wrote (tests/fixtures): they open, verify and go on.
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "e2e/api.hpp"
#include "e2e/change_store.hpp"

namespace sluice::e2e {
namespace old_store_test {

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

    // Makes the open leases look as if they had been given just now, and the waiting retry due: the
    // fixture gets older and older.
    void renew_waits() {
        const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
                             std::chrono::system_clock::now().time_since_epoch())
                             .count();
        change_store(store(), fmt::format("UPDATE lease SET since = {}, until = {}", now,
                                          now + 3'600'000'000));
        change_store(store(), fmt::format("UPDATE requeued SET run_after = {}", now - 1));
        if (!on_postgres()) return;
        change_store(store(), fmt::format("UPDATE timed SET run_after = {} WHERE id IN "
                                          "(SELECT id FROM requeued)",
                                          now - 1));
    }

    // The lease that a job of this type was given by the old engine.
    static Json old_lease(Api& api, const std::string& type) {
        const List jobs = list(api.get("/api/v1/jobs?type=" + type), "jobs");
        EXPECT_EQ(jobs.size(), 1u) << type;
        for (const Json& event : api.events(text(jobs.at(0), "id"))) {
            if (text(event, "type") != "claimed") continue;
            return Fields{{"lease_id", text(event, "lease_id")}, {"job", jobs.at(0)}};
        }
        ADD_FAILURE() << type << " was never claimed";
        return {};
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

TEST_F(OldStore, GoesOnWithLeasesThatWereOpenAndWithARetryThatWaited) {
    renew_waits();
    Engine engine(store());
    Api api(engine.port(), "default");
    const Json running = old_lease(api, "running");
    expect_ok(api.log(running, {Fields{{"message", "a line of the new version"}}}));
    expect_ok(api.heartbeat(running, {{"progress", 50}}));
    expect_ok(api.report(running, {{"outcome", "succeeded"}, {"result", Fields{{"n", 1}}}}));
    const Json stopping = old_lease(api, "stopping");
    expect_ok(api.log(stopping, {Fields{{"message", "a last line"}}}));
    const Json told = expect_ok(api.heartbeat(stopping));
    EXPECT_TRUE(flag(told, "cancel_requested"));
    expect_ok(api.report(stopping, {{"outcome", "canceled"}}));
    const Json later = api.claim_one({{"types", List{"later"}}});
    expect_ok(api.log(later, {Fields{{"message", "tried again"}}}));
    expect_ok(api.succeed(later));
    const Json dependent = api.claim_one({{"types", List{"dependent"}}});
    expect_ok(api.succeed(dependent));
    for (const Json& lease : {running, later, dependent}) {
        EXPECT_EQ(api.state(job_of(lease)), "succeeded");
    }
    EXPECT_EQ(api.logs(job_of(later)).size(), 2u) << "of both versions";
    EXPECT_EQ(engine.stop(), 0);

    const Ended verified = verify();

    EXPECT_EQ(verified.code, 0) << verified.errors;
}

}  // namespace old_store_test
}  // namespace sluice::e2e
