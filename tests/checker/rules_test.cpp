// Each invariant on jobs, submits, logs and answers is noticed when a run breaks it.
#include "checker/forged.hpp"

namespace sluice::checker {
namespace rules_test {

const Fields keyed{{"exclusive_keys", boost::json::array{"k"}}};

Fields& event(Story& story, const std::string& job, std::size_t place) {
    return story.jobs.at(job).events.at(place);
}

TEST(LostSubmit, IsNoticedWhenAnAcknowledgedJobIsGone) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    story.jobs.erase(id);

    expect_broken(story, "I1");
}

TEST(LostSubmit, IsNoticedWhenThePayloadIsAnother) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    story.jobs.at(id).fields["payload"] = 7;

    expect_broken(story, "I1");
}

TEST(LostSubmit, IsNoticedWhenTwoSubmitsShareAJob) {
    Story story;
    const std::string id = story.submit();
    story.repeat();
    story.cancel(id);

    expect_broken(story, "I1");
}

TEST(LostSubmit, IsNoneWhenNobodyKnows) {
    Story story;
    const std::string id = story.submit();
    lose(story.last());
    story.jobs.erase(id);

    expect_clean(story);
}

TEST(FromNowhere, IsNoticedWhenNobodyAskedForAJob) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    story.record.erase(story.record.begin());

    expect_broken(story, "I2");
}

TEST(FromNowhere, IsNoticedWhenOneRequestMadeTwoJobs) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    const std::string other = story.submit();
    story.cancel(other);
    story.jobs.at(other).fields["correlation_id"] = story.jobs.at(id).fields["correlation_id"];

    expect_broken(story, "I2");
}

TEST(IllegalStep, IsNoticed) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    event(story, id, 1)["type"] = "succeeded";

    expect_broken(story, "I3");
}

TEST(IllegalStep, IsNoticedWhenAStepIsMissing) {
    Story story;
    const std::string id = story.submit();
    story.report(story.claim(id), "succeeded");
    story.jobs.at(id).events.erase(story.jobs.at(id).events.begin() + 1);

    expect_broken(story, "I3");
}

TEST(FinalState, IsNoticedWhenItChanges) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    story.report(story.claim(id), "succeeded");

    expect_broken(story, "I4");
}

TEST(Completion, IsNoticedWhenThereAreTwo) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.report(lease, "succeeded");
    Fields again = event(story, id, 2);
    again["seq"] = 4;
    story.jobs.at(id).events.push_back(again);

    expect_broken(story, "I7");
}

TEST(IdempotencyKey, IsNoticedWhenItMadeTwoJobs) {
    Story story;
    const std::string id = story.submit({}, "key");
    story.cancel(id);
    const std::string other = story.submit({}, "key");
    story.cancel(other);
    story.jobs.at(other).fields["correlation_id"] = story.jobs.at(id).fields["correlation_id"];

    expect_broken(story, "I10");
}

TEST(IdempotencyKey, IsNoticedWhenARepeatIsRefused) {
    Story story;
    const std::string id = story.submit({}, "key");
    refuse(story.repeat(), 422, "idempotency_key_reused");
    story.cancel(id);

    expect_broken(story, "I10");
}

TEST(IdempotencyKey, MayBeRefusedWithAnotherBody) {
    Story story;
    const std::string id = story.submit({}, "key");
    Fields& other = story.repeat();
    other["args"].as_object()["body"] = Fields{{"priority", 7}};
    refuse(other, 422, "idempotency_key_reused");
    story.cancel(id);

    expect_clean(story);
}

TEST(Attempts, AreNoticedWhenThereAreTooMany) {
    Story story;
    const std::string id = story.submit({{"max_attempts", 1}});
    story.expire(story.claim(id));
    story.report(story.claim(id), "succeeded");

    expect_broken(story, "I13");
}

TEST(Attempts, AreNoticedWhenAJobFailsWithSomeLeft) {
    Story story;
    const std::string id = story.submit({{"max_attempts", 3}});
    story.report(story.claim(id), "failed", {{"retryable", true}});

    expect_broken(story, "I13");
}

TEST(Attempts, MayEndEarlyWhenTheWorkerSaysSo) {
    Story story;
    const std::string id = story.submit({{"max_attempts", 3}});
    story.report(story.claim(id), "failed", {{"retryable", false}});

    expect_clean(story);
}

TEST(Attempts, AreNoticedWhenARetryDoesNotWait) {
    Story story;
    const std::string id =
        story.submit({{"max_attempts", 2}, {"backoff", boost::json::array{500}}});
    story.report(story.claim(id), "failed");
    story.cancel(id);

    expect_broken(story, "I13");
}

// A run in which a job without a backoff is to be retried, so many milliseconds before the time of
// its retry, which has the time of the claim or a later one.
Story retried_before(int milliseconds, bool has_time_of_claim) {
    Story story;
    const std::string id = story.submit({{"max_attempts", 2}, {"backoff", boost::json::array{0}}});
    std::string at = story.time_in(0);
    std::string due = story.time_in(-milliseconds);
    const std::string lease = story.claim(id);
    if (!has_time_of_claim) {
        at = story.time_in(0);
        due = story.time_in(-milliseconds);
    }
    story.report(lease, "failed");
    Fields& retried = story.jobs.at(id).events.back();
    retried["at"] = at;
    retried["detail"].as_object()["run_after"] = due;
    story.cancel(id);
    return story;
}

TEST(Attempts, AreRetriedByTheClockOfANodeThatIsBehindThatOfTheClaim) {
    expect_clean(retried_before(4, true));
    expect_broken(retried_before(20, true), "I13");
    expect_broken(retried_before(4, false), "I13");
}

TEST(Logs, AreNoticedWhenALineIsLostThereTwiceOrUnknown) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.log(lease);
    story.log(lease);
    story.report(lease, "succeeded");
    Story lost = story;
    lost.jobs.at(id).logs.pop_back();
    Story twice = story;
    twice.jobs.at(id).logs[1]["message"] = twice.jobs.at(id).logs[0]["message"];
    Story unknown = story;
    unknown.jobs.at(id).logs[1]["message"] = "nobody sent this";
    Story swapped = story;
    std::swap(swapped.jobs.at(id).logs[0]["message"], swapped.jobs.at(id).logs[1]["message"]);

    expect_clean(story);
    for (const Story& forged : {lost, twice, unknown, swapped}) expect_broken(forged, "I18");
}

TEST(Logs, AreNoticedWhenARefusedLineIsStored) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.log(lease);
    refuse(story.last(), 409, "lease_lost");
    story.report(lease, "succeeded");

    expect_broken(story, "I18");
}

TEST(Logs, AreNoticedWhenAReadLacksLines) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.log(lease);
    story.read_logs(id);
    story.last()["result"] = Fields{{"logs", boost::json::array{}}};
    story.report(lease, "succeeded");

    expect_broken(story, "I18b");
}

TEST(History, IsNoticedWhenAnEventIsMissing) {
    Story story = clean_story();
    story.jobs.begin()->second.events.pop_back();

    expect_broken(story, "I20");
}

TEST(History, IsNoticedWhenAHashIsThereTwice) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    event(story, id, 1)["hash"] = event(story, id, 0)["hash"];

    expect_broken(story, "I20");
}

TEST(Read, IsNoticedWhenItShowsWhatNeverWas) {
    Story story;
    const std::string id = story.submit();
    story.read(id);
    story.last()["result"].as_object()["state"] = "running";
    story.cancel(id);

    expect_broken(story, "I25");
}

TEST(Read, IsNoticedWhenItGoesBack) {
    Story story;
    const std::string id = story.submit();
    story.read(id);
    const Fields before = story.last();
    story.cancel(id);
    story.read(id);
    story.last()["result"] = before.at("result");

    expect_broken(story, "I25");
}

TEST(Replay, IsNoticedWhenItIsNotThereOrOfAnotherJob) {
    Story story;
    const std::string source = story.submit(keyed);
    story.cancel(source);
    const std::string id = story.replay(source);
    story.cancel(id);
    Story gone = story;
    gone.jobs.erase(id);
    Story another = story;
    another.jobs.at(id).fields["payload_digest"] = "another";

    expect_clean(story);
    expect_broken(gone, "I26");
    expect_broken(another, "I26");
}

TEST(Replay, IsNoticedWhenItsSourceHadNotEnded) {
    Story story;
    const std::string source = story.submit();
    const std::string id = story.replay(source);
    story.pass(100);
    story.cancel(source);
    story.cancel(id);

    expect_broken(story, "I26");
}

TEST(Answer, IsNoticedWhenItIsNotAmongTheExpected) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    story.read(id);
    refuse(story.last(), 500, "internal");

    expect_broken(story, "A1");
}

TEST(Answer, IsNoticedWhenItTakesTooLong) {
    Story story;
    const std::string id = story.submit();
    story.cancel(id);
    story.read(id);
    story.last()["t1"] = story.last()["t0"].as_int64() + 11'000'000;

    expect_broken(story, "A2");
}

}  // namespace rules_test
}  // namespace sluice::checker
