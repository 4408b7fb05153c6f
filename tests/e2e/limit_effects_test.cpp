// What a change of limits would do to the jobs that wait, and how many of them each rule holds
// back.
#include "e2e/limits_support.hpp"

namespace sluice::e2e {
namespace limit_effects_test {

class LimitEffects : public EachStore {
  protected:
    Json tried(const std::string& path, Fields fields) {
        fields["dry_run"] = true;
        return at(expect_ok(post(api, path, std::move(fields))), "effect");
    }
    Json tried(Fields fields) {
        fields["queue"] = api.queue();
        return tried("/limits", std::move(fields));
    }
    void submit_together(int count, const Fields& fields = {}) {
        for (int left = count; left > 0; left -= 500) {
            List jobs;
            for (int i = 0; i < std::min(left, 500); ++i) {
                Fields job = fields;
                job.insert({{"type", "task"}, {"queue", api.queue()}});
                jobs.emplace_back(job);
            }
            expect_ok(api.http.post("/api/v1/jobs/batch", serialize(Fields{{"jobs", jobs}})), 202);
        }
    }
    Json source_of(const std::string& source) {
        for (const Json& one : list(api.get("/api/v1/sources"), "sources")) {
            if (text(one, "source") == source) return one;
        }
        return nullptr;
    }
};
INSTANTIATE_TEST_SUITE_P(Store, LimitEffects, testing::Values("memory", "sqlite"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(LimitEffects, AreWhatMayNotStartAtOnceAnyMore) {
    submit_together(50);

    const Json few = tried({{"max_active", 3}});
    EXPECT_EQ(number(few, "held_back"), 47);
    EXPECT_EQ(number(few, "let_go"), 0);
    EXPECT_EQ(number(few, "covered"), 50);
    EXPECT_FALSE(flag(few, "more"));
    EXPECT_FALSE(flag(few, "covered_more"));
    const Json rate = tried({{"rate", Fields{{"count", 1}, {"period_ms", 60'000}}}});
    EXPECT_EQ(number(rate, "held_back"), 49);
}

TEST_P(LimitEffects, OfAHigherLimitAreItsNewPlaces) {
    const std::string path = "/limits/" + text(limit(api, {{"max_active", 3}}), "id");
    submit_together(50);
    EXPECT_EQ(api.claim({{"limit", 50}}).size(), 3u);

    EXPECT_EQ(number(tried(path, {{"max_active", 4}}), "let_go"), 1);
    EXPECT_EQ(number(tried(path, {{"max_active", 1}}), "held_back"), 0);
    EXPECT_EQ(number(tried(path + "/lift", {}), "let_go"), 47);
    expect_ok(post(api, path, {{"max_active", 4}}));
    EXPECT_EQ(api.claim({{"limit", 50}}).size(), 1u) << "and so it is";
}

TEST_P(LimitEffects, OfAPauseUnderAnotherRuleAreOnlyThatItCoversJobs) {
    const std::string nightly = fresh_name("nightly");
    limit(api, {{"paused", true}});
    submit_together(3, {{"source", nightly}});

    const Json effect = tried("/sources/" + nightly + "/pause", {});

    EXPECT_EQ(number(effect, "held_back"), 0);
    EXPECT_EQ(number(effect, "covered"), 3);
}

TEST_P(LimitEffects, JobsThatWaitForARuleAreThoseThatItDoesNotPermit) {
    const std::string id = text(limit(api, {{"max_active", 3}}), "id");
    submit_together(50);

    EXPECT_EQ(number(rule_of(api, id), "waiting"), 47);
    EXPECT_EQ(number(list(rule_of(api, id), "meters")[0], "waiting"), 47);
    api.claim({{"limit", 50}});
    EXPECT_EQ(number(rule_of(api, id), "waiting"), 47);
}

TEST_P(LimitEffects, CountsThatEndEarlyAreShownAsSuch) {
    const std::string nightly = fresh_name("nightly");
    submit_together(1500, {{"source", nightly}});

    const Json paused = limit(api, {{"paused", true}});

    EXPECT_EQ(number(at(paused, "effect"), "held_back"), 1000);
    EXPECT_TRUE(flag(at(paused, "effect"), "more"));
    EXPECT_TRUE(flag(at(paused, "effect"), "covered_more"));
    const Json rule = rule_of(api, text(paused, "id"));
    EXPECT_EQ(number(rule, "waiting"), 1000);
    EXPECT_TRUE(flag(rule, "waiting_more"));
    EXPECT_TRUE(flag(list(rule, "meters")[0], "waiting_more"));
    EXPECT_EQ(number(source_of(nightly), "queued"), 1000);
    EXPECT_TRUE(flag(source_of(nightly), "queued_more"));
}

TEST_P(LimitEffects, AMeterOfARateShowsWhatRuns) {
    const std::string id = text(limit(api, {{"rate", Fields{{"count", 5}}}}), "id");
    submit_together(3);
    EXPECT_EQ(api.claim({{"limit", 3}}).size(), 3u);

    EXPECT_EQ(number(list(rule_of(api, id), "meters")[0], "active"), 3);
}

}  // namespace limit_effects_test
}  // namespace sluice::e2e
