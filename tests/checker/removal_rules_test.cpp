// A job that is gone too early, or that comes back, is noticed.
#include "checker/forged.hpp"

namespace sluice::checker {
namespace removal_rules_test {

// A job that has ended and was read then; `later` is when the last answer of the run comes.
struct RemovalRun {
    Story story{};
    std::string id = story.submit();

    explicit RemovalRun(int later_ms, int retention_ms = 60'000) {
        story.report(story.claim(id), "succeeded");
        story.read(id);
        story.pass(later_ms);
        story.cancel(story.submit());
        story.record.push_back(
            {{"op", "plan"},
             {"outcome", "ok"},
             {"args", Fields{{"slack_ms", 5}, {"clocks_ms", 5}, {"retention_ms", retention_ms}}}});
    }

    void ask_in_vain() {
        story.read(id);
        refuse(story.last(), 404, "not_found");
    }
};

bool breaks_i30(const Story& story) {
    const auto broken = story.judge().broken();
    return std::find(broken.begin(), broken.end(), "I30") != broken.end();
}

TEST(Removal, IsFineOnceTheRetentionHasPassed) {
    RemovalRun run(61'000);
    run.story.jobs.erase(run.id);
    expect_clean(run.story);
}

TEST(Removal, IsNoticedWhenItComesTooEarly) {
    RemovalRun run(30'000);
    run.story.jobs.erase(run.id);
    EXPECT_TRUE(breaks_i30(run.story));
}

TEST(Removal, IsNoticedWhereJobsAreKeptForEver) {
    RemovalRun run(61'000, 0);
    run.story.jobs.erase(run.id);
    EXPECT_TRUE(breaks_i30(run.story));
}

TEST(Removal, IsNoticedWhenItTakesAJobThatHasNotEnded) {
    RemovalRun run(61'000);
    const std::string open = run.story.submit();
    run.story.pass(61'000);
    run.story.read(run.id);
    run.story.jobs.erase(open);
    EXPECT_TRUE(breaks_i30(run.story));
}

TEST(Removal, IsForGood) {
    RemovalRun run(61'000);
    run.ask_in_vain();
    EXPECT_TRUE(breaks_i30(run.story)) << "it is in the history";
    run.story.jobs.erase(run.id);
    expect_clean(run.story);
}

TEST(Removal, IsNoticedWhenAReadMissesAJobTooEarly) {
    RemovalRun run(10'000);
    run.ask_in_vain();
    run.story.jobs.erase(run.id);
    run.story.pass(100'000);
    run.story.cancel(run.story.submit());
    EXPECT_TRUE(breaks_i30(run.story)) << "by the end it would have been due";
}

// A removed job breaks no other rule, with requests of many kinds about it and its dependents.
TEST(Removal, IsNoHarmToAnyOtherRule) {
    Story story;
    const std::string id = story.submit();
    const std::string waits = story.submit({{"depends_on", boost::json::array{id}}});
    const std::string lease = story.claim(id);
    story.heartbeat(lease);
    story.log(lease);
    story.read_logs(id);
    story.report(lease, "succeeded", {{"result", 1}});
    story.repeat();
    story.stream(id);
    const std::string again = story.replay(id);
    story.report(story.claim(again), "succeeded");
    story.report(story.claim(waits), "succeeded");
    story.ask_from_elsewhere(id);
    story.pass(61'000);
    story.read(id);
    refuse(story.last(), 404, "not_found");
    story.record.push_back(
        {{"op", "plan"},
         {"outcome", "ok"},
         {"args", Fields{{"slack_ms", 5}, {"clocks_ms", 5}, {"retention_ms", 60'000}}}});
    story.jobs.erase(id);
    expect_clean(story);
}

TEST(Removal, IsFineWhereNobodyHeardOfTheEnd) {
    RemovalRun run(61'000);
    for (Fields& operation : run.story.record) {
        const std::string op = text(operation, "op");
        if (op == "report" || op == "read") lose(operation);
    }
    run.story.jobs.erase(run.id);
    expect_clean(run.story);
}

TEST(Removal, IsNoticedWhenAJobEndedOtherwise) {
    RemovalRun run(61'000);
    const std::string canceled = run.story.submit();
    run.story.cancel(canceled);
    run.story.pass(61'000);
    run.story.read(run.id);
    run.story.jobs.erase(canceled);
    EXPECT_TRUE(breaks_i30(run.story));
}

TEST(Removal, IsNoticedWhileAKeyStandsForTheJob) {
    RemovalRun run(61'000);
    const std::string keyed = run.story.submit({}, "key");
    run.story.report(run.story.claim(keyed), "succeeded");
    run.story.pass(61'000);
    run.story.read(run.id);
    run.story.jobs.erase(keyed);
    EXPECT_TRUE(breaks_i30(run.story));
    run.story.pass(24 * 3'600'000);
    run.story.read(run.id);
    expect_clean(run.story);
}

TEST(Removal, IsNoticedWhileAJobThatDependsOnItHasNotEnded) {
    for (const bool has_ended : {true, false}) {
        RemovalRun run(61'000);
        const std::string waits = run.story.submit({{"depends_on", boost::json::array{run.id}}});
        if (has_ended) run.story.cancel(waits);
        run.ask_in_vain();
        run.story.pass(1000);
        if (!has_ended) run.story.cancel(waits);
        run.story.jobs.erase(run.id);
        EXPECT_EQ(breaks_i30(run.story), !has_ended) << run.story.judge().table();
    }
}

}  // namespace removal_rules_test
}  // namespace sluice::checker
