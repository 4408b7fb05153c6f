// Each invariant on time and order is noticed when a run breaks it.
#include "checker/forged.hpp"

namespace sluice::checker {
namespace time_rules_test {

TEST(Deadline, IsNoticedWhenItComesEarly) {
    Story story;
    const std::string id = story.submit({{"timeout_ms", 300}});
    const std::string lease = story.claim(id);
    story.time_out(id);
    story.expire(lease);
    story.jobs.at(id).fields["timeout_ms"] = 600;

    expect_broken(story, "I14");
}

TEST(Deadline, IsNoticedWhenItDoesNotCome) {
    Story story;
    const std::string id = story.submit({{"timeout_ms", 300}});
    const std::string lease = story.claim(id, 100'000);
    story.pass(20'000);
    story.report(lease, "succeeded");

    expect_broken(story, "I14");
}

TEST(Deadline, IsNoticedByTheWorkersClockToo) {
    Story story;
    const std::string id = story.submit({{"timeout_ms", 300}});
    const std::string lease = story.claim(id);
    story.pass(-200);
    story.time_out(id);
    story.heartbeat(lease);
    story.report(lease, "canceled");
    story.record.push_back(
        {{"op", "plan"}, {"outcome", "ok"}, {"args", Fields{{"clock_steps", true}}}});

    expect_broken(story, "I14");
}

TEST(Liveness, IsNoticedWhenAJobDoesNotEnd) {
    Story story;
    story.submit();

    expect_broken(story, "I15");
}

TEST(Liveness, IsNoticedWhenALeaseStays) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.pass(20'000);
    story.expire(lease);
    story.cancel(id);

    expect_broken(story, "I15");
}

TEST(Liveness, AllowsForStartsThatRenewLeases) {
    Story story;
    const std::string id = story.submit();
    const std::string lease = story.claim(id);
    story.pass(20'000);
    const std::int64_t at = story.record.back().at("t1").as_int64() + 15'000'000;
    story.record.push_back({{"op", "start"}, {"outcome", "ok"}, {"t0", at}, {"t1", at}});
    story.record.push_back({{"op", "plan"},
                            {"outcome", "ok"},
                            {"args", Fields{{"slack_ms", 5}, {"starts_renew_leases", true}}}});
    story.expire(lease);
    story.cancel(id);

    expect_clean(story);
}

TEST(Dependency, IsNoticedWhenItHadNotEnded) {
    Story story;
    const std::string first = story.submit();
    const std::string second = story.submit({{"depends_on", boost::json::array{first}}});
    const std::string lease = story.claim(second);
    story.pass(50);
    story.report(story.claim(first), "succeeded");
    story.report(lease, "succeeded");

    expect_broken(story, "I16");
}

TEST(Dependency, IsNoticedWhenItFailedAndTheJobRan) {
    Story story;
    const std::string first = story.submit();
    story.cancel(first);
    const std::string second = story.submit({{"depends_on", boost::json::array{first}}});
    story.report(story.claim(second), "succeeded");

    expect_broken(story, "I16");
}

TEST(Dependency, IsNoticedWhenItSucceededAndTheJobWasCanceled) {
    Story story;
    const std::string first = story.submit();
    story.report(story.claim(first), "succeeded");
    const std::string second = story.submit({{"depends_on", boost::json::array{first}}});
    story.cancel_for_dependency(second);

    expect_broken(story, "I16");
}

TEST(EarlyClaim, IsNoticed) {
    Story story;
    const std::string id = story.submit({{"delay_ms", 1000}});
    story.report(story.claim(id), "succeeded");

    expect_broken(story, "I17");
}

TEST(EarlyClaim, IsNoticedByTheWorkersClockToo) {
    Story story;
    const std::string id = story.submit({{"delay_ms", 1000}});
    story.report(story.claim(id), "succeeded");
    story.record.push_back(
        {{"op", "plan"}, {"outcome", "ok"}, {"args", Fields{{"slack_ms", 60'000}}}});

    expect_broken(story, "I17");
}

TEST(EarlyClaim, IsNoticedWhenADelayIsCutShort) {
    Story story;
    const std::string id = story.submit();
    story.last()["args"].as_object()["body"].as_object()["delay_ms"] = 1000;
    story.cancel(id);

    expect_broken(story, "I17");
}

TEST(EarlyClaim, IsNoticedBeforeARetryIsDue) {
    Story story;
    const std::string id = story.submit();
    story.report(story.claim(id), "failed");
    story.jobs.at(id).events.at(2)["detail"].as_object()["run_after"] = "2999-01-01T00:00:00.000Z";
    story.report(story.claim(id), "succeeded");

    expect_broken(story, "I17");
}

}  // namespace time_rules_test
}  // namespace sluice::checker
