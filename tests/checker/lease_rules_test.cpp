// Each invariant on leases, keys, reports and cancels is noticed when a run breaks it.
#include "checker/forged.hpp"

namespace sluice::checker {
namespace lease_rules_test {

const Fields keyed{{"exclusive_keys", boost::json::array{"k"}}};

// Two jobs that share a key, one after the other.
struct TwoJobs {
    Story story{};
    std::string first = story.submit(keyed);
    std::string second = story.submit(keyed);
};

TEST(Lease, IsNoticedWhenTwoAreOpen) {
    Story story;
    const std::string id = story.submit();
    const std::string first = story.claim(id);
    const std::string second = story.claim(id);
    story.report(second, "succeeded");

    expect_broken(story, "I5");
}

TEST(Lease, IsNoticedWhenItWasGivenAndTheHistoryDoesNotKnowIt) {
    Story story;
    const std::string id = story.submit();
    story.report(story.claim(id), "succeeded");
    Fields& claim = story.record[1];
    auto& leases = claim["result"].as_object()["leases"].as_array();
    leases.push_back(leases[0]);
    leases[1].as_object()["lease_id"] = id + "-00000000000000ff";

    expect_broken(story, "I5");
}

TEST(Lease, IsNoticedWhenItIsGivenTwice) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.repeat();
    story.report(lease, "succeeded");

    expect_broken(story, "I5");
}

TEST(Lease, IsNoticedWhenTokensDoNotGrow) {
    Story story;
    const std::string id = story.submit();
    const std::string first = story.claim(id);
    story.release(first);
    story.report(story.claim(id), "succeeded");
    for (const std::size_t place : {1u, 2u}) {
        story.jobs.at(id).events[place]["lease_id"] = id + "-ffffffffffffffff";
    }

    expect_broken(story, "I5");
}

TEST(Fence, IsNoticedWhenAStaleHeartbeatIsAccepted) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.report(lease, "succeeded");
    story.heartbeat(lease);

    expect_broken(story, "I6");
}

TEST(Fence, IsNoticedWithoutAClockWhenTheJobWasGivenAnew) {
    Story story;
    const std::string id = story.submit();
    const std::string stale = story.claim(id);
    story.expire(stale);
    const std::string current = story.claim(id);
    story.heartbeat(stale);
    story.report(current, "succeeded");
    story.record.push_back(
        {{"op", "plan"}, {"outcome", "ok"}, {"args", Fields{{"slack_ms", 60'000}}}});

    expect_broken(story, "I6");
}

TEST(Fence, IsNoticedWhenACurrentLeaseIsRefused) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.heartbeat(lease);
    refuse(story.last(), 409, "lease_lost");
    story.report(lease, "succeeded");

    expect_broken(story, "I6");
}

TEST(Report, IsNoticedWhenItIsLost) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.report(lease, "succeeded");
    const Fields accepted = story.last();
    Story lost;
    const std::string other = lost.submit();
    lost.expire(lost.claim(other));
    lost.cancel(other);
    lost.record.push_back(accepted);

    ASSERT_EQ(id, other);
    expect_clean(story);
    expect_broken(lost, "I8");
}

TEST(Report, IsNoticedWhenTheResultIsAnother) {
    Story story;
    const std::string id = story.submit();
    story.report(story.claim(id), "succeeded", {{"result", 1}});
    story.jobs.at(id).fields["result"] = 2;

    expect_broken(story, "I8");
}

TEST(Report, IsNoticedWhenAHandBackIsLost) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.release(lease);
    story.cancel(id);
    story.jobs.at(id).events[2]["type"] = "lease_expired";
    story.jobs.at(id).events[2]["actor"] = "engine";

    expect_broken(story, "I8");
}

TEST(RepeatedReport, IsNoticedWhenItIsAnsweredOtherwise) {
    Story story;
    const std::string id = story.submit();
    story.report(story.claim(id), "succeeded");
    refuse(story.repeat(), 409, "lease_lost");

    expect_broken(story, "I9");
}

TEST(RepeatedReport, IsNoticedWhenAnotherOutcomeIsAcceptedToo) {
    Story story;
    const std::string id = story.submit();
    story.report(story.claim(id), "succeeded");
    story.repeat()["args"].as_object()["body"] = Fields{{"outcome", "failed"}};

    expect_broken(story, "I9");
}

TEST(ExclusiveKey, IsNoticedWhenTheHistoryTellsOfTwoHolders) {
    auto [story, first, second] = TwoJobs{};
    const std::string one = story.claim(first);
    story.pass(100);
    const std::string two = story.claim(second);
    story.pass(100);
    story.report(one, "succeeded");
    story.report(two, "succeeded");

    expect_broken(story, "I11");
}

TEST(ExclusiveKey, IsNoticedWithoutAClockWhenTwoWorkersHoldIt) {
    auto [story, first, second] = TwoJobs{};
    const std::string one = story.claim(first);
    const std::string two = story.claim(second);
    story.heartbeat(one);
    story.heartbeat(two);
    story.report(one, "succeeded");
    story.report(two, "succeeded");
    story.record.push_back(
        {{"op", "plan"}, {"outcome", "ok"}, {"args", Fields{{"slack_ms", 60'000}}}});

    expect_broken(story, "I11");
}

TEST(ExclusiveKey, StaysWithACanceledJobUntilItsWorkerStops) {
    auto [story, first, second] = TwoJobs{};
    const std::string one = story.claim(first);
    story.cancel(first);
    story.pass(100);
    const std::string two = story.claim(second);
    story.pass(100);
    story.report(one, "canceled");
    story.report(two, "succeeded");

    expect_broken(story, "I11");
}

TEST(ExclusiveKey, MayPassFromOneToTheNext) {
    auto [story, first, second] = TwoJobs{};
    story.report(story.claim(first), "succeeded");
    story.report(story.claim(second), "succeeded");

    expect_clean(story);
}

TEST(ExclusiveKey, MayPassFromOneToTheNextWithinAMillisecond) {
    auto [story, first, second] = TwoJobs{};
    story.report(story.claim(second), "succeeded");
    const std::string lease = story.claim(first);
    story.pass(100);
    story.report(lease, "succeeded");
    const Json at = story.jobs.at(first).events[1]["at"];
    for (std::size_t event : {1, 2}) story.jobs.at(second).events[event]["at"] = at;

    const Verdict verdict = story.judge();
    const auto broken = verdict.broken();
    EXPECT_EQ(std::find(broken.begin(), broken.end(), "I11"), broken.end()) << verdict.table();
}

TEST(Cancel, IsNoticedWhenTheJobEndsOtherwise) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    const Fields accepted = story.last();
    Story other;
    const std::string same = other.submit();
    other.report(other.claim(same), "succeeded");
    other.record.push_back(accepted);

    ASSERT_EQ(id, same);
    expect_broken(other, "I23");
}

TEST(Cancel, IsNoticedWhenItIsRefusedForNothing) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    refuse(story.last(), 409, "conflict");

    expect_broken(story, "I23");
}

TEST(Cancel, IsNoticedWhenTheWorkerDoesNotHearOfIt) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.cancel(id);
    story.heartbeat(lease);
    story.last()["result"].as_object()["cancel_requested"] = false;
    story.report(lease, "canceled");

    expect_broken(story, "I23");
}

TEST(Cancel, IsNoticedWhenAnotherReportIsAcceptedAfterIt) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.cancel(id);
    story.report(lease, "failed");

    expect_broken(story, "I23");
}

// The engine took the report and gave the job another attempt, then its answer was lost.
TEST(Cancel, LetsAWorkerRepeatAReportFromBeforeIt) {
    Story story;
    const std::string id = story.submit({{"max_attempts", 2}});
    story.report(story.claim(id), "failed");
    const Fields first = story.last();
    lose(story.last());
    story.cancel(id);
    story.repeat(first);

    expect_clean(story);
}

TEST(Cancel, IsNoticedWhenNobodyDidIt) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    story.record.pop_back();

    expect_broken(story, "I23");
}

TEST(Term, IsNoticedWhenALeaseIsTakenAwayEarly) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id, 1000);
    story.heartbeat(lease, 5000);
    story.expire(lease);
    story.cancel(id);

    expect_broken(story, "I28");
}

}  // namespace lease_rules_test
}  // namespace sluice::checker
