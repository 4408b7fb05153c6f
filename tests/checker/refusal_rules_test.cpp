// A job that is taken while none may be, and a lease that nobody took away, are noticed.
#include "checker/forged.hpp"

namespace sluice::checker {
namespace refusal_rules_test {

const Fields refusing{{"kind", "maintenance"}, {"paused", true}, {"refuses_submits", true}};
const Fields block_of_south{
    {"kind", "block"}, {"tenant", "south"}, {"paused", true}, {"refuses_submits", true}};

TEST(RefusedSubmit, IsNoticedWhenItIsAccepted) {
    Story story;
    story.limit(refusing);
    story.cancel(story.submit({}, "key"));

    expect_broken(story, "G8");
}

TEST(RefusedSubmit, IsNoticedForABlockedTenantAlone) {
    Story story;
    story.limit(block_of_south);
    story.cancel(story.submit());
    expect_clean(story);

    story.act_for("south");
    story.cancel(story.submit());
    expect_broken(story, "G8");
}

TEST(RefusedSubmit, IsNoticedWhenItIsABatchOrAReplay) {
    Story batch;
    batch.limit(refusing);
    batch.batch("key");
    Story replay;
    const std::string id = replay.submit();
    replay.report(replay.claim(id), "succeeded");
    replay.limit(refusing);
    replay.cancel(replay.replay(id));

    expect_broken(batch, "G8");
    expect_broken(replay, "G8");
}

TEST(RefusedSubmit, MayBeAnsweredLikeOneThatWasAcceptedBefore) {
    Story story;
    const std::string id = story.submit({}, "key");
    const Fields submit = story.last();
    story.limit(refusing);
    story.repeat(submit);
    story.cancel(id);

    expect_clean(story);
}

TEST(RefusedSubmit, MayBeAcceptedAfterwardsOrBeforeTheChangeIsAnswered) {
    Story story;
    const std::string limit = story.limit(refusing);
    Fields& change = story.last();
    change["t1"] = change["t1"].as_int64() + 50'000;
    story.cancel(story.submit());
    story.pass(100);
    story.submit_in_vain("key");
    story.lift_limit(limit);
    story.cancel(story.submit({}, "key"));

    expect_clean(story);
}

TEST(RefusedSubmit, IsNoticedWhenItIsARepeatedOneThatWasAccepted) {
    Story story;
    const std::string id = story.submit({}, "key");
    refuse(story.repeat(), 403, "forbidden");
    story.cancel(id);

    expect_broken(story, "I10");
}

TEST(RefusedSubmit, IsNoticedWhenItsTenantWasNotBlocked) {
    Story story;
    story.lift_limit(story.limit(block_of_south));
    story.act_for("south");
    story.submit_in_vain();
    expect_clean(story);

    story.pass(20'000);
    story.submit_in_vain();
    expect_broken(story, "G8");
}

TEST(RefusedSubmit, MayBeAReplay) {
    Story story;
    const std::string id = story.submit();
    story.report(story.claim(id), "succeeded");
    const std::string again = story.replay(id);
    story.cancel(again);
    Fields refused = story.record[story.record.size() - 2];
    refuse(refused, 403, "forbidden");
    refused["args"].as_object()["key"] = "another";
    story.limit({{"kind", "block"}, {"tenant", "default"}, {"refuses_submits", true}});
    story.repeat(refused);

    expect_clean(story);
}

TEST(Release, MayEndALeaseEarlyAndWithoutABackoff) {
    Story story;
    const std::string id = story.submit({{"backoff", boost::json::array{500}}});
    story.release_lease(story.claim(id, 60'000));
    story.report(story.claim(id), "succeeded");

    expect_clean(story);
}

TEST(Release, IsNoticedWhenNobodyAskedForIt) {
    Story story;
    const std::string id = story.submit({{"backoff", "none"}});
    story.release_lease(story.claim(id));
    story.record.pop_back();
    story.cancel(id);

    expect_broken(story, "I8");
}

TEST(Release, IsNoticedWhenItIsLost) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.report(lease, "succeeded");
    story.record.push_back(story.last());
    story.last()["op"] = "release_lease";

    expect_broken(story, "I8");
}

TEST(Quota, OfAProfileTakesThePlaceOfThatOfAll) {
    Story story;
    const boost::json::array per{"tenant"};
    story.limit({{"kind", "quota"}, {"per", per}, {"max_active", 1}});
    const std::string gold =
        story.limit({{"kind", "quota"}, {"profile", "gold"}, {"per", per}, {"max_active", 2}});
    const std::string one = story.claim(story.submit());
    const std::string two = story.claim(story.submit());
    story.heartbeat(one);
    story.report(one, "succeeded");
    story.report(two, "succeeded");
    story.lift_limit(gold);
    expect_clean(story);

    const std::string three = story.claim(story.submit());
    const std::string four = story.claim(story.submit());
    story.heartbeat(three);
    story.report(three, "succeeded");
    story.report(four, "succeeded");
    expect_broken(story, "G1");
}

}  // namespace refusal_rules_test
}  // namespace sluice::checker
