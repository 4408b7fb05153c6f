// A job that is gone too early, or that comes back, is noticed.
#include "checker/forged.hpp"

namespace sluice::checker {
namespace {

// A job that has ended and was read then; `later` is when the last word of the run is said.
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

// Other rules miss the job, too; this is about the one that knows why it may be gone.
bool breaks_i30(const Story& story) {
    const auto broken = story.judge().broken();
    return std::find(broken.begin(), broken.end(), "I30") != broken.end();
}

TEST(Removal, IsFineOnceTheRetentionHasPassed) {
    RemovalRun run(61'000);
    run.story.jobs.erase(run.id);
    EXPECT_FALSE(breaks_i30(run.story)) << run.story.judge().table();
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
    EXPECT_FALSE(breaks_i30(run.story)) << run.story.judge().table();
}

TEST(Removal, IsNoticedWhenAReadMissesAJobTooEarly) {
    RemovalRun run(10'000);
    run.ask_in_vain();
    run.story.jobs.erase(run.id);
    run.story.pass(100'000);
    run.story.cancel(run.story.submit());
    EXPECT_TRUE(breaks_i30(run.story)) << "by the end it would have been due";
}

}  // namespace
}  // namespace sluice::checker
