// Each invariant on limits is noticed when a run breaks it, and only what is certain is.
#include "checker/forged.hpp"

namespace sluice::checker {
namespace limit_rules_test {

using List = boost::json::array;

const Fields of_s{{"source", "s"}};
const Fields one_of_s{{"kind", "limit"}, {"source", "s"}, {"max_active", 1}};
const Fields two_of_s{{"kind", "limit"}, {"source", "s"}, {"max_active", 2}};
const Fields pause_of_s{{"kind", "throttle"}, {"source", "s"}, {"paused", true}};

// Runs two jobs at the same time, as certain as a worker can be of it.
void run_two(Story& story, const Fields& first, const Fields& second) {
    const std::string one = story.claim(story.submit(first));
    const std::string two = story.claim(story.submit(second));
    story.heartbeat(one);
    story.report(one, "succeeded");
    story.report(two, "succeeded");
}

void start(Story& story, int count, int pause_ms) {
    for (int i = 0; i < count; ++i) {
        story.pass(pause_ms);
        story.report(story.claim(story.submit(of_s)), "succeeded");
    }
}

TEST(Change, IsNoticedWhenItIsLost) {
    Story story;
    story.lift_limit(story.limit(one_of_s));
    expect_clean(story);

    story.limit_changes.pop_back();
    expect_broken(story, "G0");
}

TEST(Change, MayBeNoneWhenTheAnswerSaysThatNothingDiffers) {
    Story story;
    story.limit(one_of_s);
    story.limit_changes.pop_back();
    story.last()["result"] = Fields{{"warnings", List{"it covers no job"}}};
    expect_broken(story, "G0");

    story.last()["result"] = Fields{{"warnings", List{"nothing differs: it stays as it is"}}};
    expect_clean(story);
}

TEST(Change, IsNoticedWhenALiftIsLost) {
    Story story;
    const std::string limit = story.limit(pause_of_s);
    story.lift_limit(limit);
    story.last()["result"] = Fields{{"lifted", List{Fields{{"id", limit}}}}};
    story.repeat()["args"].as_object()["reason"] = "somebody else's";
    expect_clean(story);

    story.limit_changes.pop_back();
    expect_broken(story, "G0");
}

TEST(ActiveJobs, AreNoticedWhenTheyAreTooMany) {
    Story story;
    story.limit(one_of_s);
    run_two(story, of_s, of_s);

    expect_broken(story, "G1");
}

TEST(ActiveJobs, AreNoticedWhenALimitWasLowered) {
    Story story;
    const std::string limit = story.limit(two_of_s);
    story.change_limit(limit, one_of_s);
    run_two(story, of_s, of_s);

    expect_broken(story, "G1");
}

TEST(ActiveJobs, AreCountedWithAJobWhoseWorkerHasNotStopped) {
    Story story;
    story.limit(one_of_s);
    const std::string id = story.submit(of_s);
    const std::string lease = story.claim(id);
    story.cancel(id);
    story.report(story.claim(story.submit(of_s)), "succeeded");
    story.report(lease, "canceled");

    expect_broken(story, "G1");
}

TEST(ActiveJobs, MayBeMoreThanALimitThatCameLater) {
    Story story;
    const std::string one = story.claim(story.submit(of_s));
    const std::string two = story.claim(story.submit(of_s));
    story.limit(one_of_s);
    story.heartbeat(one);
    story.report(one, "succeeded");
    story.report(two, "succeeded");

    expect_clean(story);
}

TEST(ActiveJobs, MayBeAsManyAsPermittedForEachMeter) {
    Story story;
    Fields of_each = one_of_s;
    of_each["source"] = "s*";
    of_each["per"] = List{"source"};
    story.limit(of_each);
    run_two(story, of_s, {{"source", "s2"}});

    expect_clean(story);
}

TEST(ActiveJobs, MayBeMoreAfterALimitWasLiftedOrRaised) {
    Story story;
    story.lift_limit(story.limit(one_of_s));
    run_two(story, of_s, of_s);
    story.change_limit(story.limit(one_of_s), two_of_s);
    run_two(story, of_s, of_s);

    expect_clean(story);
}

TEST(ActiveJobs, MayBeMoreWhenTheChangeWasNotAnsweredYet) {
    Story story;
    story.limit(one_of_s);
    story.last()["t1"] = story.last()["t1"].as_int64() + 1'000'000;
    run_two(story, of_s, of_s);

    expect_clean(story);
}

TEST(ActiveJobs, MayBeMoreWhenTheOutcomeOfTheChangeIsUnknown) {
    Story story;
    story.limit(one_of_s);
    lose(story.last());
    run_two(story, of_s, of_s);

    expect_clean(story);
}

TEST(ActiveJobs, AreNoticedWhenALaterChangeWasAnswered) {
    Story story;
    story.limit(one_of_s);
    lose(story.last());
    story.limit({{"kind", "limit"}, {"source", "other"}, {"max_active", 1}});
    run_two(story, of_s, of_s);

    expect_broken(story, "G1");
}

TEST(ActiveJobs, MayBeMoreThanAQuotaOfAllWhereATenantHasItsOwn) {
    Story story;
    const List per{"tenant"};
    story.limit({{"kind", "quota"}, {"per", per}, {"max_active", 1}});
    story.limit({{"kind", "quota"}, {"tenant", "default"}, {"per", per}, {"max_active", 2}});
    run_two(story, {}, {});

    expect_clean(story);
}

// A lease whose claim has no answer; then another one, until the worker of the first is given up.
// `is_seen`: a client reads the first job before the second is claimed.
Story with_a_lost_claim(bool is_seen) {
    Story story;
    story.limit(one_of_s);
    const std::string first = story.submit(of_s);
    const std::string lost = story.claim(first);
    lose(story.last());
    if (is_seen) story.read(first);
    story.pass(100);
    story.report(story.claim(story.submit(of_s)), "succeeded");
    story.expire(lost);
    story.cancel(first);
    return story;
}

TEST(ActiveJobs, MayBeMoreWhereAClaimWithoutAnAnswerMayHaveBeenCommittedLater) {
    expect_clean(with_a_lost_claim(false));
}

TEST(ActiveJobs, AreCountedWithAClaimWithoutAnAnswerOnceItsJobWasSeen) {
    expect_broken(with_a_lost_claim(true), "G1");
}

TEST(ActiveJobs, AreCountedWithAClaimWithoutAnAnswerByTheTimesOfASingleNode) {
    Story story = with_a_lost_claim(false);
    story.record.push_back(
        {{"op", "plan"},
         {"outcome", "ok"},
         {"args", Fields{{"slack_ms", 5}, {"clocks_ms", 5}, {"starts_renew_leases", true}}}});
    expect_broken(story, "G1");
}

TEST(ActiveJobs, AreNoticedBeforeAndAfterATenantHasAQuotaOfItsOwn) {
    Story story;
    const List per{"tenant"};
    story.limit({{"kind", "quota"}, {"per", per}, {"max_active", 1}});
    const std::string own =
        story.limit({{"kind", "quota"}, {"tenant", "default"}, {"per", per}, {"max_active", 2}});
    Story after = story;
    after.lift_limit(own);
    run_two(after, {}, {});
    run_two(story, {}, {});

    expect_clean(story);
    expect_broken(after, "G1");
}

TEST(Meters, AreNoticedWhenTheyDifferFromLeases) {
    Story story;
    story.check_limits();
    story.last()["result"].as_object()["differences"] =
        List{Fields{{"rule", "r"}, {"meter", nullptr}, {"counted", 1}, {"leased", 0}}};

    expect_broken(story, "G3");
}

TEST(Meters, AreNoticedWhenSomethingIsLeftAtTheEnd) {
    Story story;
    start(story, 1, 10);
    Fields limit = one_of_s;
    limit["id"] = story.limit(one_of_s);
    limit["active"] = 0;
    story.limits = {limit};
    expect_clean(story);

    story.limits[0]["active"] = 1;
    expect_broken(story, "G3");
}

TEST(Pause, IsNoticedWhenALeaseIsGivenMeanwhile) {
    Story story;
    const std::string id = story.submit(of_s);
    story.limit(pause_of_s);
    story.report(story.claim(id), "succeeded");

    expect_broken(story, "G7");
}

TEST(Pause, IsNoticedWhenItCameByAChange) {
    Story story;
    const std::string id = story.submit(of_s);
    Fields paused = two_of_s;
    paused["paused"] = true;
    story.change_limit(story.limit(two_of_s), paused);
    story.report(story.claim(id), "succeeded");

    expect_broken(story, "G7");
}

TEST(Pause, HoldsForATenantInMaintenance) {
    Story story;
    story.limit({{"kind", "maintenance"}, {"tenant", "south"}, {"paused", true}});
    start(story, 1, 10);
    expect_clean(story);

    story.act_for("south");
    start(story, 1, 10);
    expect_broken(story, "G7");
}

TEST(Pause, HoldsForOthersNot) {
    Story story;
    story.limit(pause_of_s);
    const std::string id = story.submit({{"source", "s2"}});
    story.report(story.claim(id), "succeeded");

    expect_clean(story);
}

TEST(Pause, HoldsNotAfterItsEnd) {
    Story story;
    Fields until = pause_of_s;
    until["until"] = story.time_in(100);
    story.limit(until);
    start(story, 1, 100);

    expect_clean(story);
}

TEST(Pause, HoldsNotWhenTheClaimWasSentBefore) {
    Story story;
    const std::string id = story.submit(of_s);
    const Json sent = story.last()["t0"];
    story.limit(pause_of_s);
    const std::string lease = story.claim(id);
    story.last()["t0"] = sent;
    // The engine notes the time at which its transaction began.
    story.jobs.at(id).events[1]["at"] = story.jobs.at(id).events[0]["at"];
    story.report(lease, "succeeded");

    expect_clean(story);
}

TEST(Pause, MayBeRepeatedWithoutAnEndInBetween) {
    Story story;
    const std::string id = story.submit(of_s);
    const std::string pause = story.limit(pause_of_s);
    const std::string lease = story.claim(id);
    story.change_limit(pause, pause_of_s);
    story.record[2]["t1"] = story.last()["t1"];
    story.report(lease, "succeeded");

    expect_broken(story, "G7");
}

}  // namespace limit_rules_test
}  // namespace sluice::checker
