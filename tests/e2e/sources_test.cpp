// Sources of jobs: counted by themselves, paused and resumed.
#include "e2e/guarded_engine.hpp"
#include "e2e/limits_support.hpp"

namespace sluice::e2e {
namespace sources_test {

class Sources : public EachStore {
  protected:
    Json shown(const std::string& source) {
        for (const Json& one : list(api.get("/api/v1/sources"), "sources")) {
            if (text(one, "source") == source) return one;
        }
        return nullptr;
    }

    const std::string nightly = fresh_name("nightly");
};
INSTANTIATE_TEST_SUITE_P(Store, Sources, testing::Values("memory", "sqlite"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(Sources, ShowUpByThemselvesWithTheirCounts) {
    submit_some(api, 4, {{"source", nightly}, {"max_attempts", 1}});
    expect_ok(api.succeed(api.claim_one()));
    expect_ok(api.fail(api.claim_one()));
    api.claim_one();

    const Json source = shown(nightly);

    EXPECT_EQ(text(source, "tenant"), "default");
    EXPECT_EQ(number(source, "submitted_24h"), 4);
    EXPECT_EQ(number(source, "succeeded_24h"), 1);
    EXPECT_EQ(number(source, "failed_24h"), 1);
    EXPECT_EQ(number(source, "queued"), 1);
    EXPECT_EQ(number(source, "active"), 1);
    EXPECT_EQ(at(source, "failure_rate"), Json(0.5));
    EXPECT_FALSE(text(source, "last_job_at").empty());
    EXPECT_FALSE(flag(source, "paused"));
}

TEST_P(Sources, APausedOneWaitsAndOthersGoOn) {
    submit_some(api, 1, {{"source", nightly}, {"priority", 9}});
    const std::string free = api.submit_id({{"source", fresh_name("hand")}});

    const Json rule = expect_ok(
        post(api, "/sources/" + nightly + "/pause", {{"reason", "broken"}, {"ticket", "T-2"}}));

    EXPECT_EQ(text(rule, "kind"), "throttle");
    EXPECT_EQ(number(at(rule, "effect"), "held_back"), 1);
    EXPECT_EQ(job_of(api.claim_one()), free);
    EXPECT_TRUE(api.claim().empty());
    EXPECT_TRUE(flag(shown(nightly), "paused"));
    EXPECT_EQ(text(shown(nightly), "reason"), "broken");
    EXPECT_EQ(text(shown(nightly), "rule"), text(rule, "id"));
    expect_ok(post(api, "/sources/" + nightly + "/resume", {}));
    EXPECT_EQ(api.claim().size(), 1u);
    EXPECT_FALSE(flag(shown(nightly), "paused"));
    expect_refused(post(api, "/sources/" + nightly + "/resume", {}), 404, "not_found");
}

TEST_P(Sources, APausedOneIsListedBeforeItHasJobs) {
    expect_ok(post(api, "/sources/" + nightly + "/pause", {{"reason", "not yet"}}));

    const Json source = shown(nightly);

    EXPECT_TRUE(flag(source, "paused"));
    EXPECT_TRUE(is_null(source, "tenant"));
    EXPECT_TRUE(is_null(source, "last_job_at"));
    EXPECT_EQ(number(source, "queued"), 0);
    EXPECT_EQ(text(source, "reason"), "not yet");
    expect_ok(post(api, "/sources/" + nightly + "/resume", {}));
    EXPECT_TRUE(shown(nightly).is_null());
}

// The configuration makes limits only.
TEST_P(Sources, APauseThatIsALimitIsListed) {
    const Json rule =
        expect_ok(post(api, "/limits", {{"source", nightly}, {"paused", true}}), 201);

    const Json source = shown(nightly);

    ASSERT_FALSE(source.is_null());
    EXPECT_TRUE(flag(source, "paused"));
    EXPECT_EQ(text(source, "rule"), text(rule, "id"));
}

TEST_P(Sources, PausedTwiceHaveOneRule) {
    const Json first = expect_ok(post(api, "/sources/" + nightly + "/pause", {{"reason", "a"}}));
    const std::string until = later_by(std::chrono::hours(1));

    const Json second =
        expect_ok(post(api, "/sources/" + nightly + "/pause", {{"reason", "b"}, {"until", until}}));

    EXPECT_EQ(text(second, "id"), text(first, "id"));
    EXPECT_EQ(text(second, "until"), until);
    EXPECT_EQ(text(second, "reason"), "b");
    expect_ok(post(api, "/sources/" + nightly + "/resume", {}));
    submit_some(api, 1, {{"source", nightly}});
    EXPECT_EQ(api.claim().size(), 1u);
}

TEST_P(Sources, AResumeLeavesOtherThrottlesOfTheSource) {
    expect_ok(post(api, "/limits", {{"kind", "throttle"}, {"source", nightly}, {"max_active", 1}}),
              201);
    expect_ok(post(api, "/sources/" + nightly + "/pause", {}));
    submit_some(api, 2, {{"source", nightly}});

    expect_ok(post(api, "/sources/" + nightly + "/resume", {}));

    EXPECT_EQ(api.claim({{"limit", 5}}).size(), 1u);
}

TEST_P(Sources, ListsFilterByThem) {
    const std::string id = api.submit_id({{"source", nightly}});
    api.submit({{"source", fresh_name("hand")}});

    const Json page = api.get("/api/v1/jobs?source=" + nightly);

    ASSERT_EQ(list(page, "jobs").size(), 1u);
    EXPECT_EQ(text(list(page, "jobs")[0], "id"), id);
}

TEST(SourceOfAService, IsItsTokensName) {
    GuardedEngine engine;
    const std::string service =
        engine.token({{"name", "press"}, {"kind", "service"}, {"scopes", List{"orch:operate"}}});
    const std::string user =
        engine.token({{"name", "ada"}, {"kind", "user"}, {"scopes", List{"orch:operate"}}});
    const auto source_of = [&](const std::string& token, const Fields& job) {
        return text(expect_ok(engine.post(token, "/api/v1/jobs", job), 202), "source");
    };

    EXPECT_EQ(source_of(service, {{"type", "t"}}), "press");
    EXPECT_EQ(source_of(service, {{"type", "t"}, {"source", "other"}}), "other");
    EXPECT_EQ(source_of(user, {{"type", "t"}}), "");
}

}  // namespace sources_test
}  // namespace sluice::e2e
