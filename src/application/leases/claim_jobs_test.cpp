#include "application/leases/claim_jobs.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace claim_jobs_test {

using namespace std::chrono_literals;

JobSpec with_priority(int priority) {
    JobSpec made = spec();
    made.priority = priority;
    return made;
}

JobSpec with_keys(std::vector<std::string> keys, std::string tenant = "default") {
    JobSpec made = spec();
    made.exclusive_keys = std::move(keys);
    made.tenant = std::move(tenant);
    return made;
}

TEST(ClaimJobs, StartsTheJobUnderANewLease) {
    TestEngine engine;
    const Job queued = engine.submit(spec());
    engine.advance(5s);

    const Job job = engine.claim_one();

    EXPECT_EQ(job.spec, queued.spec);
    EXPECT_EQ(job.now.state, JobState::running);
    EXPECT_EQ(job.now.attempt, 1);
    EXPECT_EQ(job.now.started_at, at(5));
    ASSERT_TRUE(job.lease);
    EXPECT_EQ(job.lease->worker_id, "worker");
    EXPECT_EQ(job.lease->since, at(5));
    EXPECT_EQ(job.lease->until, at(35));
    EXPECT_EQ(job.lease->term, 30s);
    EXPECT_FALSE(job.lease->stop_requested);
    EXPECT_EQ(engine.find(job.spec->id), job);
}

TEST(ClaimJobs, RecordsTheWorkerAndTheLease) {
    TestEngine engine;
    const Job job = engine.start(spec());

    const Event event = engine.events(job.spec->id).back();

    EXPECT_EQ(event.step, Step::claimed);
    EXPECT_EQ(event.actor, "worker:worker");
    EXPECT_EQ(event.lease, job.lease->token);
    EXPECT_EQ(event.attempt, 1);
}

TEST(ClaimJobs, AnswersWithNothingWhenThereIsNothing) {
    TestEngine engine;

    EXPECT_TRUE(engine.claim().empty());
}

TEST(ClaimJobs, TakesManySmallJobsButOfLargeOnesAHundred) {
    TestEngine engine;
    for (int i = 0; i < 250; ++i) engine.submit(spec());
    EXPECT_EQ(engine.claim({}, 230).size(), 230u);
    EXPECT_EQ(engine.claim({}, 230).size(), 20u);
    JobSpec large = spec();
    large.payload = '"' + std::string(100'000, 'x') + '"';
    for (int i = 0; i < 130; ++i) engine.submit(large);

    EXPECT_EQ(engine.claim({}, 1000).size(), 100u);
    EXPECT_EQ(engine.claim({}, 1000).size(), 30u);
}

TEST(ClaimJobs, TakesAllThatThereIsForSeveralClaimsAtOnce) {
    TestEngine engine;
    for (int i = 0; i < 250; ++i) engine.submit(spec());
    Batch batch;
    const auto first = put(batch, engine.claim_command({}, 300));
    const auto second = put(batch, engine.claim_command({}, 120));
    const auto third = put(batch, engine.claim_command({}, 5));

    engine.run(batch);

    EXPECT_EQ((**first)->size() + (**second)->size() + (**third)->size(), 250u);
    EXPECT_GE((**second)->size(), 100u);
    EXPECT_EQ((**third)->size(), 5u);
}

TEST(ClaimJobs, HandsAJobOutOnce) {
    TestEngine engine;
    engine.submit(spec());

    EXPECT_EQ(engine.claim({}, 5).size(), 1u);
    EXPECT_TRUE(engine.claim({}, 5).empty());
}

TEST(ClaimJobs, TakesTheHighestPriorityFirstThenTheOldest) {
    TestEngine engine;
    const auto jobs = engine.submit_all({with_priority(0), with_priority(-1), with_priority(9),
                                         with_priority(0), with_priority(9)});

    const auto claimed = engine.claim({}, 10);

    EXPECT_EQ(ids_of(claimed), (std::vector{jobs[2].spec->id, jobs[4].spec->id, jobs[0].spec->id,
                                            jobs[3].spec->id, jobs[1].spec->id}));
}

TEST(ClaimJobs, TakesNoMoreThanItsLimit) {
    TestEngine engine;
    engine.submit_all({spec(), spec(), spec()});

    EXPECT_EQ(engine.claim({}, 2).size(), 2u);
    EXPECT_EQ(engine.claim({}, 2).size(), 1u);
}

TEST(ClaimJobs, TakesOnlyWhatItsFilterAccepts) {
    TestEngine engine;
    JobSpec wanted = spec("build");
    wanted.queue = "ci";
    JobSpec wrong_type = wanted;
    wrong_type.type = "test";
    JobSpec wrong_queue = wanted;
    wrong_queue.queue = "cd";
    JobSpec wrong_tenant = wanted;
    wrong_tenant.tenant = "other";
    JobSpec too_demanding = wanted;
    too_demanding.labels = {"gpu"};
    const auto ours = engine.submit_all({wrong_type, wrong_queue, too_demanding, wanted});
    engine.submit(wrong_tenant);

    const auto claimed = engine.claim({.queues = {"ci"}, .types = {"build"}}, 10);

    EXPECT_EQ(ids_of(claimed), (std::vector{ours[3].spec->id}));
}

TEST(ClaimJobs, LeavesAJobUntilItsTimeHasCome) {
    TestEngine engine;
    JobSpec later = spec();
    later.run_after = at(60);
    engine.submit(later);

    engine.advance(60s - 1us);
    EXPECT_TRUE(engine.claim().empty());

    engine.advance(1us);
    EXPECT_EQ(engine.claim().size(), 1u);
}

TEST(ClaimJobs, NeverGivesTwoJobsOneKey) {
    TestEngine engine;
    engine.submit_all(
        {with_keys({"a"}), with_keys({"a", "b"}), with_keys({"b"}), with_keys({"c"})});

    const auto first = engine.claim({}, 10);

    ASSERT_EQ(first.size(), 3u);
    EXPECT_EQ(first[0].spec->exclusive_keys, (std::vector<std::string>{"a"}));
    EXPECT_EQ(first[1].spec->exclusive_keys, (std::vector<std::string>{"b"}));
    EXPECT_EQ(first[2].spec->exclusive_keys, (std::vector<std::string>{"c"}));
    EXPECT_TRUE(engine.claim({}, 10).empty());
}

TEST(ClaimJobs, WaitsUntilAllKeysAreFree) {
    TestEngine engine;
    const Job a = engine.start(with_keys({"a"}));
    const Job b = engine.start(with_keys({"b"}));
    engine.submit(with_keys({"a", "b"}));

    engine.report(a, Outcome::succeeded);
    EXPECT_TRUE(engine.claim().empty());

    engine.report(b, Outcome::succeeded);
    EXPECT_EQ(engine.claim().size(), 1u);
}

TEST(ClaimJobs, HoldsTheSiteAndTheNodeLikeKeys) {
    TestEngine engine;
    JobSpec on_site = spec();
    on_site.site_id = "s";
    on_site.node_id = "n1";
    JobSpec same_site = on_site;
    same_site.node_id = "n2";
    JobSpec same_node = on_site;
    same_node.site_id = "t";
    engine.submit_all({on_site, same_site, same_node});

    EXPECT_EQ(engine.claim({}, 10).size(), 1u);
}

TEST(ClaimJobs, KeepsKeysOfTenantsApart) {
    TestEngine engine;
    engine.submit(with_keys({"a"}));
    engine.submit(with_keys({"a"}, "other"));

    EXPECT_EQ(engine.claim().size(), 1u);
    EXPECT_EQ(engine.claim({.tenant = "other"}).size(), 1u);
}

TEST(ClaimJobs, GivesEachClaimOfAJobALargerToken) {
    TestEngine engine;
    Job job = engine.start(spec());
    for (int i = 0; i < 5; ++i) {
        engine.hand_back(job);

        const Job again = engine.claim_one();

        EXPECT_GT(again.lease->token, job.lease->token);
        job = again;
    }
}

TEST(ClaimJobs, ClearsWhatTheAttemptBeforeItSaid) {
    TestEngine engine;
    JobSpec twice = spec();
    twice.max_attempts = 2;
    const Job first = engine.start(twice);
    (void)engine.ask(
        Heartbeat{.lease = lease_of(first), .progress = 70, .message = "nearly there"});
    engine.report(first, Outcome::failed, "E_DISK");

    const Job second = engine.claim_one();

    EXPECT_EQ(second.now.attempt, 2);
    EXPECT_EQ(second.now.error_code, "");
    EXPECT_EQ(second.now.error_message, "");
    EXPECT_EQ(second.now.message, "");
    EXPECT_EQ(second.now.progress, std::nullopt);
}

TEST(ClaimJobs, GoesByTheClockAsItIsAfterItWasSetBack) {
    TestEngine before;
    before.advance(std::chrono::hours(1));
    before.submit_all({spec(), spec()});
    TestEngine after(before.store());  // its clock is an hour behind

    for (const Job& job : after.claim({}, 2)) {
        EXPECT_EQ(job.lease->until, after.now() + TestEngine::term);
        EXPECT_EQ(job.lease->since, after.now()) << "deadlines count from here";
    }
}

TEST(ClaimJobs, ServesTheClaimsOfABatchInTurn) {
    TestEngine engine;
    const auto jobs = engine.submit_all({spec(), spec(), spec()});
    Batch batch;
    const auto first = put(batch, engine.claim_command({}, 2, "one"));
    const auto second = put(batch, engine.claim_command({}, 2, "two"));
    const auto third = put(batch, engine.claim_command({}, 2, "three"));

    const Engine::Ran ran = engine.run(batch);

    EXPECT_EQ(ids_of(***first), (std::vector{jobs[0].spec->id, jobs[1].spec->id}));
    EXPECT_EQ(ids_of(***second), (std::vector{jobs[2].spec->id}));
    EXPECT_EQ((***second)[0].lease->worker_id, "two");
    EXPECT_TRUE((***third).empty());
    EXPECT_EQ(ran.counts.claimed, 3);
}

TEST(ClaimJobs, SeesWhatTheSameBatchSubmitted) {
    TestEngine engine;
    Batch batch;
    const auto claim = put(batch, engine.claim_command());
    put(batch, submission({spec()}));

    engine.run(batch);

    EXPECT_EQ((***claim).size(), 1u);
}

}  // namespace claim_jobs_test
}  // namespace sluice
