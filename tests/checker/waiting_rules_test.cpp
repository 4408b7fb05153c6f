// A claim that waits beside a job that it could have is noticed.
#include "checker/forged.hpp"

namespace sluice::checker {
namespace waiting_rules_test {

constexpr int too_long_ms = 4000;
const Fields of_s{{"source", "s"}};
const Fields pause_of_s{{"kind", "throttle"}, {"source", "s"}, {"paused", true}};
const Fields one_of_s{{"kind", "limit"}, {"source", "s"}, {"max_active", 1}};

TEST(WaitingClaim, IsNoticedBesideAJobWhosePauseEnded) {
    Story story;
    const std::string pause = story.limit(pause_of_s);
    const std::string id = story.submit(of_s);
    story.lift_limit(pause);
    story.claim_in_vain(too_long_ms);
    story.cancel(id);

    expect_broken(story, "G4");
}

TEST(WaitingClaim, IsNoticedBesideAJobWhosePermitCameBack) {
    Story story;
    story.limit(one_of_s);
    const std::string lease = story.claim(story.submit(of_s));
    const std::string id = story.submit(of_s);
    story.report(lease, "succeeded");
    story.claim_in_vain(too_long_ms);
    story.cancel(id);

    expect_broken(story, "G4");
}

TEST(WaitingClaim, MayWaitBesideAJobThatIsHeldBack) {
    Story story;
    story.limit(one_of_s);
    const std::string lease = story.claim(story.submit(of_s), 2 * too_long_ms);
    const std::string id = story.submit(of_s);
    story.claim_in_vain(too_long_ms);
    story.cancel(id);
    story.report(lease, "succeeded");

    expect_clean(story);
}

TEST(WaitingClaim, IsNotJudgedWhereJobsThatHeldPermitsWereRemoved) {
    Story story;
    story.limit(one_of_s);
    const std::string removed = story.submit(of_s);
    const std::string lease = story.claim(removed, 2 * too_long_ms);
    const std::string id = story.submit(of_s);
    story.claim_in_vain(too_long_ms);
    story.report(lease, "succeeded");
    story.pass(61'000);
    story.cancel(id);
    story.record.push_back(
        {{"op", "plan"}, {"outcome", "ok"}, {"args", Fields{{"retention_ms", 60'000}}}});
    story.jobs.erase(removed);

    expect_clean(story);
}

TEST(WaitingClaim, MayWaitBesideAJobOfAnotherTenant) {
    Story story;
    story.limit({{"kind", "limit"}, {"max_active", 1}});
    const std::string id = story.submit();
    story.act_for("south");
    story.claim_in_vain(too_long_ms);
    story.act_for("default");
    story.cancel(id);

    expect_clean(story);
}

TEST(WaitingClaim, MayWaitAfterAFault) {
    Story story;
    story.limit(one_of_s);
    const std::string id = story.submit(of_s);
    Fields kill = story.repeat();
    kill["op"] = "kill";
    kill["actor"] = "saboteur";
    story.record.back() = kill;
    story.claim_in_vain(too_long_ms - 500);
    story.cancel(id);

    expect_clean(story);
}

TEST(ClosedLane, IsNoticedWhenItDelaysOthers) {
    Story story;
    story.limit(pause_of_s);
    const std::string paused = story.submit(of_s);
    const std::string free = story.submit({{"source", "t"}});
    story.claim_in_vain(too_long_ms);
    story.cancel(free);
    story.cancel(paused);

    expect_broken(story, "G5");
}

TEST(ClosedLane, IsNoticedWhenItDelaysAJobWhoseOwnLimitsAreOpen) {
    Story story;
    story.limit({{"kind", "limit"}, {"max_active", 3}});
    story.limit({{"kind", "limit"}, {"rate_count", 1}, {"rate_period_ms", 100}, {"rate_burst", 2}});
    story.limit(pause_of_s);
    const std::string paused = story.submit(of_s);
    const std::string free = story.submit({{"source", "t"}});
    story.claim_in_vain(too_long_ms);
    story.cancel(free);
    story.cancel(paused);

    expect_broken(story, "G5");
}

TEST(ClosedLane, MayBeBesideAJobThatIsHeldBackByARate) {
    Story story;
    story.limit({{"kind", "limit"},
                 {"source", "t"},
                 {"rate_count", 1},
                 {"rate_period_ms", 60'000},
                 {"rate_burst", 1}});
    story.pass(60'100);
    story.limit(pause_of_s);
    story.report(story.claim(story.submit({{"source", "t"}})), "succeeded");
    const std::string paused = story.submit(of_s);
    const std::string late = story.submit({{"source", "t"}});
    story.claim_in_vain(too_long_ms);
    story.cancel(late);
    story.cancel(paused);

    expect_clean(story);
}

std::size_t cases_of(const Story& story, const std::string& id) {
    const Verdict verdict = story.judge();
    const auto row = std::find_if(verdict.rows.begin(), verdict.rows.end(),
                                  [&](const Row& any) { return any.id() == id; });
    return row->cases();
}

TEST(WaitingClaim, IsACaseOnlyIfItCouldHaveShownSomething) {
    Story patient;
    patient.claim_in_time(patient.submit(of_s), too_long_ms);
    Story hasty;
    hasty.claim_in_time(hasty.submit(of_s), 1000);

    EXPECT_EQ(cases_of(patient, "G4"), 1u);
    EXPECT_EQ(cases_of(patient, "G5"), 0u);
    EXPECT_EQ(cases_of(hasty, "G4"), 0u);
}

TEST(WaitingClaim, IsACaseOfOthersOnlyBesideAJobThatIsPaused) {
    Story story;
    const std::string pause = story.limit(pause_of_s);
    story.claim_in_time(story.submit({{"source", "t"}}), too_long_ms);
    EXPECT_EQ(cases_of(story, "G5"), 0u);

    const std::string paused = story.submit(of_s);
    story.claim_in_time(story.submit({{"source", "t"}}), too_long_ms);
    story.lift_limit(pause);
    story.report(story.claim(paused), "succeeded");
    EXPECT_EQ(cases_of(story, "G5"), 1u);
}

TEST(ClosedLane, MayWaitItself) {
    Story story;
    story.limit(pause_of_s);
    const std::string paused = story.submit(of_s);
    story.claim_in_vain(too_long_ms);
    story.cancel(paused);

    expect_clean(story);
}

}  // namespace waiting_rules_test
}  // namespace sluice::checker
