// Broken promises that clients see by their own clock are noticed, whatever clocks were set.
#include "checker/forged.hpp"

namespace sluice::checker {
namespace promise_rules_test {

const Fields keyed{{"exclusive_keys", boost::json::array{"k"}}};

void plan(Story& story, Fields args) {
    story.record.push_back({{"op", "plan"}, {"outcome", "ok"}, {"args", std::move(args)}});
}

// A lease of a second that is given to another worker after so long, with or without a heartbeat.
Story taken_over_after(int milliseconds, bool with_heartbeat) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id, 1000);
    if (with_heartbeat) {
        story.heartbeat(lease, 1000);
        story.last()["args"].as_object()["lease_ms"] = 1000;
    }
    story.pass(milliseconds - 1500);
    story.expire(lease);
    story.report(story.claim(id), "succeeded");
    plan(story, {{"clock_steps", true}});
    return story;
}

TEST(Silence, IsNoticedWhenALeaseIsGivenAwayWithinIt) {
    expect_broken(taken_over_after(800, false), "I29");
    expect_broken(taken_over_after(960, true), "I29");
    expect_clean(taken_over_after(1200, true));
}

TEST(Silence, IsNoticedWhenAKeyIsGivenAwayWithinIt) {
    Story story;
    const std::string first = story.submit(keyed);
    const std::string second = story.submit(keyed);
    const std::string lease = story.claim(first, 1000);
    story.pass(-1000);
    story.expire(lease);
    story.report(story.claim(second), "succeeded");
    story.cancel(first);
    plan(story, {{"clock_steps", true}});

    expect_broken(story, "I29");
}

TEST(Silence, EndsWhenTheWorkerSaysThatItIsDone) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id, 60'000);
    story.release(lease);
    story.report(story.claim(id), "succeeded");

    expect_clean(story);
}

// Two jobs that wait for a worker; the second is claimed first.
Story overtaken(const Fields& first_body, const Fields& second_body) {
    Story story;
    const std::string first = story.submit(first_body);
    const std::string second = story.submit(second_body);
    story.report(story.claim(second), "succeeded");
    story.report(story.claim(first), "succeeded");
    plan(story, {{"slack_ms", 5}, {"clocks_ms", 5}, {"strict_order", true}});
    return story;
}

TEST(Order, IsNoticedWhenAnOlderJobIsLeftWaiting) {
    expect_broken(overtaken({{"priority", 1}}, {{"priority", 1}}), "I17b");
    expect_broken(overtaken({{"priority", 2}}, {{"priority", 1}}), "I17b");
}

TEST(Order, MayBeAnotherForAHigherPriorityOrForWhatHasToWait) {
    expect_clean(overtaken({{"priority", 1}}, {{"priority", 2}}));
    expect_clean(overtaken({{"exclusive_keys", boost::json::array{"k"}}}, {}));
    expect_clean(overtaken({{"queue", "another"}}, {}));
    expect_clean(overtaken({{"delay_ms", 5}}, {}));
}

TEST(Order, MayBeAnotherWhereNothingIsSaidOfIt) {
    Story story = overtaken({}, {});
    story.last()["args"].as_object()["strict_order"] = false;

    expect_clean(story);
}

TEST(ClockSteps, DoNotMatterToTheHistorysOrder) {
    Story story;
    const std::string id = story.submit();
    story.pass(3'600'000);
    const std::string lease = story.claim(id);
    story.pass(-3'600'000);
    story.report(lease, "succeeded");
    // Clients' clocks were not set.
    std::int64_t now = story.record[0]["t0"].as_int64();
    for (Fields& line : story.record) {
        line["t0"] = now;
        line["t1"] = now += 2000;
    }
    Story untold = story;
    plan(story, {{"clock_steps", true}});

    expect_clean(story);
    EXPECT_FALSE(untold.judge().is_clean());
}

TEST(Replay, MayBeMadeByARefusedRequestThatTheNetworkRepeats) {
    Story story;
    const std::string source = story.submit();
    story.cancel(source);
    const std::string id = story.replay(source);
    Fields& replay = story.last();
    // It was refused before its source had ended, and accepted when it was repeated afterwards.
    replay["t0"] = story.record[0]["t1"];
    replay["t1"] = story.record[1]["t0"];
    refuse(replay, 409, "conflict");
    story.cancel(id);
    Story unrepeated = story;
    plan(story, {{"slack_ms", 20}, {"clocks_ms", 5}, {"repeated_requests", true}});

    expect_clean(story);
    expect_broken(unrepeated, "I2");
}

TEST(Replay, IsNoticedWhenItChangesItsSource) {
    Story story;
    const std::string source = story.submit();
    story.cancel(source);
    story.read(source);
    story.cancel(story.replay(source));
    story.read(source);
    Story changed = story;
    changed.last()["result"].as_object()["priority"] = 9;

    expect_clean(story);
    expect_broken(changed, "I26");
}

}  // namespace promise_rules_test
}  // namespace sluice::checker
