// Numbers that are wrong, and rules by which nothing starts: `sluice doctor` and `sluice limit
// check`.
#include <gtest/gtest.h>

#include "e2e/change_store.hpp"
#include "e2e/cli.hpp"
#include "e2e/guarded_engine.hpp"
#include "e2e/limits_support.hpp"
#include "infrastructure/postgres/connection/connection.hpp"
#include "support/postgres.hpp"

namespace sluice::e2e {
namespace limits_doctor_test {

// An engine, and the operator of its store.
class Operated {
  public:
    explicit Operated(std::string store) : store_(std::move(store)) { start(); }

    void start() {
        engine_ = std::make_unique<Engine>(store_);
        port_ = engine_->port();
    }
    void stop() { EXPECT_EQ(engine_->stop(), 0); }
    const std::string& store() const { return store_; }

    Api api() const { return {port_, "default"}; }
    Ended doctor() const {
        return run_sluice(
            {"doctor", "--store", store_, "--listen", "127.0.0.1:" + std::to_string(port_)});
    }
    Ended cli(Words words) const {
        words.insert(words.end(), {"--server", "http://127.0.0.1:" + std::to_string(port_)});
        return run_sluice(words);
    }
    std::size_t claimed(const std::string& tenant, int limit = 9) const {
        return api().claim({{"tenant", tenant}, {"limit", limit}, {"lease_ms", 600'000}}).size();
    }

  private:
    std::string store_;
    std::unique_ptr<Engine> engine_;
    std::uint16_t port_ = 0;
};

// A limit of two for each tenant. Two jobs of acme and one of zeta run, others wait.
std::string use_meters(const Operated& engine) {
    Api api = engine.api();
    const Json rule = expect_ok(
        post(api, "/limits", {{"name", "few"}, {"per", List{"tenant"}}, {"max_active", 2}}), 201);
    submit_some(api, 5, {{"tenant", "acme"}});
    submit_some(api, 5, {{"tenant", "zeta"}});
    EXPECT_EQ(engine.claimed("acme", 2), 2u);
    EXPECT_EQ(engine.claimed("zeta", 1), 1u);
    return text(rule, "id");
}

void expect_right(const Operated& engine) {
    const Ended checked = engine.cli({"limit", "check"});
    EXPECT_EQ(checked.code, 0) << checked.output;
    EXPECT_EQ(checked.output, "");
    const Ended seen = engine.doctor();
    EXPECT_EQ(seen.code, 0) << seen.output;
    EXPECT_TRUE(has(seen.output, "agree with the leases")) << seen.output;
}

// ── on each store ──

class LimitsDoctor : public testing::Test {
  protected:
    const TempFolder folder;
    Operated engine{"sqlite:" + (folder.path() / "s.db").string()};
};

TEST_F(LimitsDoctor, IsContentWithMetersThatAgree) {
    use_meters(engine);

    expect_right(engine);

    const Ended repaired = engine.cli({"limit", "check", "--repair"});
    EXPECT_EQ(repaired.code, 0) << repaired.errors;
    EXPECT_EQ(engine.claimed("acme"), 0u) << "a repair of nothing changes nothing";
    EXPECT_EQ(engine.claimed("zeta"), 1u);
}

TEST_F(LimitsDoctor, SaysHowManyRulesThereAre) {
    EXPECT_TRUE(has(engine.doctor().output, "none: every job may start"));
    use_meters(engine);
    EXPECT_TRUE(has(engine.doctor().output, "sluice limit list shows"));
    engine.stop();
    const Ended seen = engine.doctor();
    EXPECT_EQ(seen.code, 0) << seen.output;
    EXPECT_TRUE(has(seen.output, on_postgres() ? "are compared with the leases while an engine runs"
                                               : "are counted anew from the leases"))
        << seen.output;
}

TEST_F(LimitsDoctor, TellsOfMaintenanceAndHowToEndIt) {
    Api api = engine.api();
    expect_ok(post(api, "/maintenance", {{"reason", "a new database"}, {"ticket", "OPS-10"}}));
    expect_ok(post(api, "/maintenance", {{"tenant", "acme"}, {"submits", "refuse"}}));

    const Ended seen = engine.doctor();

    EXPECT_EQ(seen.code, 0) << "it is no mistake";
    for (const char* part :
         {"warn  maintenance", "no job starts (since ", "by anonymous, ticket OPS-10",
          ": a new database)", "sluice maintenance end --reason",
          "no job starts of tenant acme, and none is taken",
          "sluice maintenance end --tenant acme --reason"}) {
        EXPECT_TRUE(has(seen.output, part)) << part << "\n" << seen.output;
    }
    expect_ok(post(api, "/maintenance/end", {}));
    expect_ok(post(api, "/maintenance/end", {{"tenant", "acme"}}));
    EXPECT_FALSE(has(engine.doctor().output, "no job starts"));
}

TEST_F(LimitsDoctor, TellsOfBlockedTenantsAndHowToUnblockThem) {
    Api api = engine.api();
    const std::string until = later_by(std::chrono::hours(2));
    expect_ok(post(api, "/tenants/mallory/block",
                   {{"reason", "a stolen token"}, {"ticket", "SEC-3"}, {"until", until}}));

    const Ended seen = engine.doctor();

    EXPECT_EQ(seen.code, 0);
    for (const std::string& part :
         {std::string("mallory is blocked (since "),
          "by anonymous, ticket SEC-3, until " + until + ": a stolen token)",
          std::string("sluice tenant unblock mallory --reason")}) {
        EXPECT_TRUE(has(seen.output, part)) << part << "\n" << seen.output;
    }
    engine.stop();
    EXPECT_TRUE(has(engine.doctor().output, "mallory is blocked")) << "it is in the store";
    engine.start();
    Api again = engine.api();
    expect_ok(post(again, "/tenants/mallory/unblock", {}));
    EXPECT_FALSE(has(engine.doctor().output, "mallory"));
}

// ── SQLite ──

class SqliteLimitsDoctor : public LimitsDoctor {};

TEST_F(SqliteLimitsDoctor, WhatIsActiveIsCountedFromTheLeasesAtTheStart) {
    const std::string rule = use_meters(engine);
    engine.stop();
    change_store(engine.store(),
                 "INSERT INTO meter (id, rule, name, full_at_ns, owed_until_ns) "
                 "VALUES (1, '" +
                     rule + "', 'tenant acme', 0, 0)");

    engine.start();

    expect_right(engine);
    EXPECT_EQ(engine.claimed("acme"), 0u);
    EXPECT_EQ(engine.claimed("zeta"), 1u);
}

// ── PostgreSQL, which keeps the numbers in tables ──

class PostgresLimitsDoctor : public testing::Test {
  protected:
    void execute(const std::string& sql) const {
        postgres::Connection({.url = engine.store()}).execute(sql);
    }

    Operated engine{migrated_database()};
};

TEST_F(PostgresLimitsDoctor, NamesMetersThatWereChangedByHandUntilTheyAreRepaired) {
    const std::string rule = use_meters(engine);
    expect_right(engine);
    execute(
        "UPDATE meter SET taken = taken + 7 WHERE name = 'tenant acme';"
        "DELETE FROM meter WHERE name = 'tenant zeta'");

    const Ended seen = engine.doctor();

    EXPECT_EQ(seen.code, 1) << seen.output;
    for (const char* part :
         {", tenant acme: 9 are counted, and 2 leased",
          ", tenant zeta: 0 are counted, and 1 leased", "sluice limit check --repair"}) {
        EXPECT_TRUE(has(seen.output, part)) << part << "\n" << seen.output;
    }
    EXPECT_TRUE(has(seen.output, "fail  meters"));
    EXPECT_TRUE(has(seen.output, rule));
    for (int i = 0; i < 2; ++i) {  // to look changes nothing
        const Ended checked = engine.cli({"limit", "check"});
        EXPECT_EQ(checked.code, 6);
        EXPECT_EQ(lines_of(checked.output).size(), 3u);
        EXPECT_TRUE(has(checked.output, rule + "\ttenant acme\t9\t2\n")) << checked.output;
        EXPECT_TRUE(has(checked.output, rule + "\ttenant zeta\t0\t1\n")) << checked.output;
        EXPECT_TRUE(has(checked.errors, "sluice limit check --repair")) << checked.errors;
    }

    const Ended repaired = engine.cli({"limit", "check", "--repair", "--json"});

    EXPECT_EQ(repaired.code, 0) << repaired.errors;
    EXPECT_TRUE(flag(parse(repaired.output), "repaired"));
    EXPECT_EQ(list(parse(repaired.output), "differences").size(), 2u);
    expect_right(engine);
    EXPECT_EQ(engine.claimed("acme"), 0u);
    EXPECT_EQ(engine.claimed("zeta"), 1u);
}

TEST_F(PostgresLimitsDoctor, FindsAPermitThatCameBackWithoutAJob) {
    const std::string rule = use_meters(engine);
    execute(
        "INSERT INTO permit_return (meter, seat, given) "
        "SELECT id, 1000, 2 FROM meter WHERE name = 'tenant acme'");

    EXPECT_TRUE(has(engine.doctor().output, ", tenant acme: 0 are counted, and 2 leased"));
    EXPECT_TRUE(has(engine.cli({"limit", "check"}).output, rule + "\ttenant acme\t0\t2\n"));

    EXPECT_EQ(engine.cli({"limit", "check", "--repair"}).code, 0);
    expect_right(engine);
    EXPECT_EQ(engine.claimed("acme"), 0u);
}

TEST_F(PostgresLimitsDoctor, ARepairLetsJobsGoThatAMeterHeldBackByMistake) {
    use_meters(engine);
    execute("UPDATE meter SET taken = taken + 1 WHERE name = 'tenant zeta'");
    EXPECT_EQ(engine.claimed("zeta"), 0u);
    Client waiting(engine.api().port());
    waiting.send(request_text("POST", "/api/v1/leases",
                              engine.api().claim_text({{"tenant", "zeta"}, {"wait_ms", 20'000}})));
    EXPECT_FALSE(waiting.receive(Millis(300)));

    EXPECT_EQ(engine.cli({"limit", "check", "--repair"}).code, 0);

    const auto answer = waiting.receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(list(expect_ok(*answer), "leases").size(), 1u);
    expect_right(engine);
}

TEST_F(PostgresLimitsDoctor, WhatWasChangedBehindAStoppedEngineIsFoundOnceOneRuns) {
    const std::string rule = use_meters(engine);
    engine.stop();
    execute("UPDATE meter SET taken = taken + 7 WHERE name = 'tenant acme'");
    const Ended early = engine.doctor();
    EXPECT_EQ(early.code, 0) << early.output;
    EXPECT_TRUE(has(early.output, "are compared with the leases while an engine runs"));

    engine.start();

    EXPECT_EQ(engine.doctor().code, 1);
    EXPECT_EQ(engine.cli({"limit", "check"}).code, 6);
    EXPECT_EQ(engine.cli({"limit", "check", "--repair"}).code, 0);
    expect_right(engine);
    EXPECT_EQ(engine.claimed("acme"), 0u);
}

}  // namespace limits_doctor_test
}  // namespace sluice::e2e
