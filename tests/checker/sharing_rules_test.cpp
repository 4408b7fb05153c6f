// Each invariant on streams, tenants, batches and followed jobs is noticed when a run breaks it.
#include "checker/forged.hpp"

namespace sluice::checker {
namespace sharing_rules_test {

using List = boost::json::array;

List& told(Story& story) {
    return story.last()["result"].as_object()["events"].as_array();
}

Fields& gadget_event(Story& story, std::size_t place) {
    return story.entities.at(0)["events"].as_array().at(place).as_object();
}

// A job with two log lines that has ended, and a stream of all of it: five items.
Story streamed(std::int64_t after = 0) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.log(lease);
    story.log(lease);
    story.report(lease, "succeeded");
    story.stream(id, after);
    return story;
}

TEST(Streams, MayBeginAnywhereAndBreakOffAnywhere) {
    for (int after = 0; after < 5; ++after) {
        Story story = streamed(after);
        expect_clean(story);
        told(story).pop_back();
        expect_clean(story);
    }
}

TEST(Streams, AreNoticedWhenTheyHaveAGapOrARepeat) {
    Story gap = streamed();
    told(gap).erase(told(gap).begin() + 2);
    Story renumbered = gap;
    for (std::size_t i = 0; i < 4; ++i) {
        told(renumbered)[i].as_object()["id"] = static_cast<std::int64_t>(i) + 1;
    }
    Story repeat = streamed();
    told(repeat).insert(told(repeat).begin(), told(repeat)[0]);
    Story late = streamed(2);
    told(late).erase(told(late).begin());

    for (const Story& forged : {gap, renumbered, repeat, late}) expect_broken(forged, "I19");
}

TEST(Streams, AreNoticedWhenTheyTellWhatNeverWas) {
    Story message = streamed();
    told(message)[2].as_object()["message"] = "nobody sent this";
    Story state = streamed();
    told(state)[4].as_object()["state"] = "failed";
    Story swapped = streamed();
    std::swap(told(swapped)[1].as_object()["type"], told(swapped)[4].as_object()["type"]);

    for (const Story& forged : {message, state, swapped}) expect_broken(forged, "I19");
}

TEST(Streams, AreNoticedWhenTheyGoOnAfterTheEnd) {
    Story story = streamed();
    Fields again = told(story)[4].as_object();
    again["id"] = 6;
    told(story).push_back(again);

    expect_broken(story, "I19");
}

TEST(Streams, AreNoticedWhenTwoDisagree) {
    Story story = streamed();
    story.repeat();
    // Both orders are possible, but not both at once.
    std::swap(told(story)[1], told(story)[2]);
    told(story)[1].as_object()["id"] = 2;
    told(story)[2].as_object()["id"] = 3;

    expect_broken(story, "I19");
}

TEST(Streams, AreNoticedWhenTheirEndIsToldTooSoonOrNotAtAll) {
    Story soon = streamed();
    soon.repeat()["status"] = 204;
    soon.last()["result"] = nullptr;
    soon.last()["args"].as_object()["after"] = 4;
    Story over = soon;
    over.last()["args"].as_object()["after"] = 5;
    Story open = over;
    open.last()["status"] = 200;

    expect_broken(soon, "I19");
    expect_clean(over);
    expect_broken(open, "I19");
}

TEST(Tenants, MayUseTheSameKey) {
    Story story;
    story.cancel(story.submit({}, "key"));
    story.act_for("south");
    story.cancel(story.submit({}, "key"));

    expect_clean(story);
}

TEST(Tenants, AreNoticedWhenTheyShareAJobByAKey) {
    Story story;
    const std::string id = story.submit({}, "key");
    story.repeat()["args"].as_object()["tenant"] = "south";
    story.cancel(id);

    expect_broken(story, "I10");
    expect_broken(story, "I1");
}

TEST(Tenants, AreNoticedWhenAnAnswerTellsOfAnother) {
    Story story;
    const std::string mine = story.submit();
    const std::string lease = story.claim(mine);
    story.log(lease);
    story.report(lease, "succeeded");
    story.act_for("south");
    const std::string theirs = story.submit();
    story.cancel(theirs);
    story.read(theirs);
    Story id = story;
    id.last()["result"].as_object()["message"] = mine;
    Story inside = story;
    inside.last()["result"].as_object()["message"] = "line 1 under " + lease;
    Story mark = story;
    mark.last()["result"].as_object()["message"] = "mark-1";

    expect_clean(story);
    for (const Story& forged : {id, inside, mark}) expect_broken(forged, "I24");
}

TEST(Tenants, AreNoticedWhenOneMayDoSomethingWithAnothersJob) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    story.ask_from_elsewhere(id);
    Story refused = story;
    refused.last()["status"] = 409;
    Story done = story;
    done.last()["status"] = 200;
    done.last()["outcome"] = "ok";

    expect_clean(story);
    expect_broken(refused, "I24");
    expect_broken(done, "I24");
}

TEST(Batch, IsNoticedWhenHalfOfItIsThere) {
    Story story;
    story.batch("key");
    Story half = story;
    half.jobs.erase(half.jobs.begin());
    lose(half.record.front());
    Story none = story;
    none.jobs.clear();
    none.record.resize(1);
    lose(none.record.front());

    expect_clean(story);
    expect_broken(half, "I21");
    expect_clean(none);
}

TEST(Batch, IsNoticedWhenACircleIsAccepted) {
    Story story;
    story.batch("key");
    auto& bodies = story.record.front()["args"].as_object()["bodies"].as_array();
    bodies[0].as_object()["depends_on"] = List{"#1"};
    Story refused;
    refused.record.push_back(story.record.front());
    refuse(refused.last(), 422, "invalid");

    expect_broken(story, "I16");
    expect_clean(refused);
}

TEST(Follower, IsNoticedWhenItsEventsDoNotHang) {
    Story story;
    story.tend();
    Story state = story;
    state.entities[0]["entity"].as_object()["state"] = "busy";
    Story gap = story;
    gadget_event(gap, 1)["seq"] = 3;
    Story torn = story;
    gadget_event(torn, 1)["from"] = "idle";

    expect_clean(story);
    for (const Story& forged : {state, gap, torn}) expect_broken(forged, "I21");
}

TEST(Follower, IsNoticedWhenItDoesNotMoveWithItsJob) {
    Story story;
    const std::string id = story.tend();
    Story unended = story;
    unended.entities[0]["events"].as_array().pop_back();
    unended.entities[0]["entity"].as_object()["state"] = "busy";
    unended.entities[0]["entity"].as_object()["revision"] = 1;
    Story otherwise = story;
    gadget_event(otherwise, 1)["action"] = "undone";
    Story unmoved = story;
    unmoved.entities[0]["events"] = List{};
    unmoved.entities[0]["entity"].as_object()["state"] = "";
    unmoved.entities[0]["entity"].as_object()["revision"] = 0;
    Story stranger = story;
    const std::string other = stranger.submit();
    stranger.cancel(other);
    gadget_event(stranger, 1)["job_id"] = other;

    for (const Story& forged : {unended, otherwise, unmoved, stranger}) {
        expect_broken(forged, "I21");
    }
}

TEST(Dependency, IsNoticedWhenItIsAnotherTenants) {
    Story story;
    const std::string mine = story.submit();
    story.report(story.claim(mine), "succeeded");
    story.act_for("south");
    const std::string theirs = story.submit({{"depends_on", List{mine}}});
    story.cancel(theirs);
    Story refused = story;
    refused.jobs.erase(theirs);
    refused.record.resize(4);
    refuse(refused.last(), 422, "invalid");

    expect_broken(story, "I16");
    expect_clean(refused);
}

}  // namespace sharing_rules_test
}  // namespace sluice::checker
