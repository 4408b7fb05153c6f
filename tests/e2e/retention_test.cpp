// Retention by the real binary: old jobs are removed, and needed ones stay.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "e2e/change_store.hpp"
#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace retention_test {

constexpr std::int64_t age_seconds = 30 * 86'400;
constexpr std::int64_t age_in_ids = (age_seconds * 1000) << 22;

// The id of a job that was made older by that much.
std::string older(const std::string& id) {
    return fmt::format("{:08x}", std::stoul(id.substr(0, 8), nullptr, 16) - age_seconds) +
           id.substr(8);
}

class JobsOfAMonthAgo : public testing::Test {
  protected:
    JobsOfAMonthAgo() {
        std::ofstream(config()) << "idempotency_hours = 1\nretention = \"1d\"\n"
                                   "[retention_of]\nfailed = \"0s\"\n";
        EXPECT_EQ(run_sluice({"migrate", "up", "--store", store}).code, 0);
        if (on_postgres()) add_past_windows();
        start({});
    }

    std::string config() const { return (folder.path() / "sluice.toml").string(); }

    void start(const std::vector<std::string>& more) {
        engine.emplace(store, more);
        api.emplace(engine->port(), "q");
    }
    void start_with_retention() { start({"--config", config()}); }

    // A database has windows from its first week on; this one is made to look older.
    void add_past_windows() {
        change_store(store, R"sql(
DO $$
DECLARE
    this_week bigint := floor((extract(epoch FROM now()) - 1577836800) / 604800);
    parent text;
BEGIN
    FOREACH parent IN ARRAY ARRAY['job', 'done', 'event', 'log'] LOOP
        FOR i IN 0..2 LOOP
            EXECUTE format('DROP TABLE %I', parent || '_' || this_week + i);
        END LOOP;
    END LOOP;
    FOR i IN -6..2 LOOP PERFORM add_window(this_week + i, i = -6); END LOOP;
END $$)sql");
    }

    // Moves the jobs that are marked as old into the past; the engine is stopped meanwhile.
    void age() {
        ASSERT_EQ(engine->stop(), 0);
        const std::string old = "(SELECT id FROM job WHERE correlation_id = 'old')";
        const auto shift = [&](const std::string& table, const std::string& column) {
            return fmt::format("UPDATE {0} SET {1} = {1} - {2} WHERE {1} IN {3};", table, column,
                               age_in_ids, old);
        };
        change_store(
            store,
            fmt::format("UPDATE done SET completed_at = completed_at - {} WHERE id IN {};",
                        age_seconds * 1'000'000, old) +
                shift("event", "job_id") + shift("log", "job_id") + shift("done", "id") +
                (on_postgres()
                     ? fmt::format("UPDATE job SET depends_on = (depends_on::int8 - {0})::text "
                                   "WHERE depends_on IS NOT NULL;"
                                   "UPDATE open_dependency SET depends_on = depends_on - {0};",
                                   age_in_ids)
                     : shift("dependency", "depends_on")) +
                fmt::format("UPDATE job SET id = id - {} WHERE correlation_id = 'old'",
                            age_in_ids));
    }

    std::string end_job(const Fields& fields, const char* outcome = "succeeded") {
        const std::string id = api->submit_id(fields);
        const Json lease = api->claim_one();
        EXPECT_EQ(job_of(lease), id);
        expect_ok(api->log(lease, {Fields{{"message", "one"}}}));
        expect_ok(api->report(lease, {{"outcome", outcome}}));
        return id;
    }

    bool is_there(const std::string& id) {
        return api->http.get("/api/v1/jobs/" + id).status == 200;
    }

    bool goes(const std::string& id) {
        return eventually([&] { return !is_there(id); }, Millis(40'000));
    }

    const TempFolder folder;
    const std::string store = "sqlite:" + (folder.path() / "store.db").string();
    std::optional<Engine> engine;
    std::optional<Api> api;
};

TEST_F(JobsOfAMonthAgo, GoWholeAndLeaveTheAuditHonest) {
    const std::string old = older(end_job({{"correlation_id", "old"}}));
    const std::string fresh = end_job({});
    age();
    const Ended before =
        run_sluice({"doctor", "--listen", "127.0.0.1:1", "--store", store, "--config", config()});
    EXPECT_TRUE(has(before.output, "1 jobs are past their retention")) << before.output;
    EXPECT_TRUE(has(before.output, "no lease is overdue")) << before.output;
    for (const std::string duty : {"deadlines", "idempotency_keys", "workers", "streams", "seal"}) {
        EXPECT_TRUE(has(before.output, "duty " + duty)) << before.output;
    }

    start_with_retention();

    ASSERT_TRUE(goes(old));
    expect_refused(api->http.get("/api/v1/jobs/" + old), 404, "not_found");
    expect_refused(api->http.get("/api/v1/jobs/" + old + "/events"), 404, "not_found");
    expect_refused(api->replay(old), 404, "not_found");
    EXPECT_TRUE(is_there(fresh));
    EXPECT_EQ(list(api->get("/api/v1/jobs"), "jobs").size(), 1u);
    const std::string by_whom = on_postgres() ? "old_windows" : "retention";
    const std::string items = "\nsluice_duty_items_total{duty=\"" + by_whom + "\"} ";
    std::string metrics;
    const auto is_counted = [&] {  // once the run is over
        metrics = api->http.get("/metrics").body;
        return has(metrics, items) && !has(metrics, items + "0\n");
    };
    EXPECT_TRUE(eventually(is_counted)) << metrics;
    EXPECT_FALSE(has(metrics, "sluice_duty_runs_total{duty=\"retention\"} 0\n")) << metrics;
    const Ended verified = run_sluice({"audit", "verify", "--store", store});
    EXPECT_EQ(verified.code, 0) << verified.errors;
    EXPECT_TRUE(has(verified.output, "1 jobs, 3 events")) << verified.output;
}

TEST_F(JobsOfAMonthAgo, StayWhenAnOpenJobDependsOnThemOrTheirOutcomeIsKept) {
    const std::string needed = end_job({{"correlation_id", "old"}});
    const std::string free = older(end_job({{"correlation_id", "old"}}));
    const std::string failed = older(end_job({{"correlation_id", "old"}}, "failed"));
    api->submit({{"depends_on", List{needed}}});
    age();

    start_with_retention();

    ASSERT_TRUE(goes(free));
    EXPECT_TRUE(is_there(older(needed)));
    EXPECT_TRUE(is_there(failed));
    expect_ok(api->succeed(api->claim_one()));
    EXPECT_TRUE(goes(older(needed))) << "nothing depends on it any more";
    EXPECT_TRUE(is_there(failed));
}

TEST_F(JobsOfAMonthAgo, AreKeptWithoutASetting) {
    const std::string old = older(end_job({{"correlation_id", "old"}}));
    age();

    start({});

    EXPECT_TRUE(is_there(old));
    const std::string metrics = api->http.get("/metrics").body;
    EXPECT_TRUE(has(metrics, "sluice_duty_runs_total{duty=\"retention\"} 0")) << metrics;
}

}  // namespace retention_test
}  // namespace sluice::e2e
