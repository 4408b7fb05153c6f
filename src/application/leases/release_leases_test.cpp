#include "application/leases/release_leases.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace release_leases_test {

using namespace std::chrono_literals;

Told<Job> release(TestEngine& engine, JobId job, std::string tenant = "") {
    return engine.ask(ReleaseLease{
        .job = job, .tenant = std::move(tenant), .reason = "it hangs", .actor = "user:ada"});
}

JobSpec with_attempts(int count) {
    JobSpec wanted = spec();
    wanted.max_attempts = count;
    return wanted;
}

TEST(ReleaseLease, QueuesTheJobAtOnceAndTheAttemptCounts) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(2));
    engine.advance(5s);

    const auto job = release(engine, running.spec->id);

    ASSERT_TRUE(job);
    EXPECT_EQ(job->now.state, JobState::queued);
    EXPECT_EQ(job->now.attempt, 1);
    EXPECT_EQ(job->now.run_after, at(5));
    EXPECT_EQ(job->now.error_code, lease_released_code);
    EXPECT_EQ(job->lease, std::nullopt);
    EXPECT_EQ(engine.find(running.spec->id), *job);
    EXPECT_EQ(engine.claim_one().now.attempt, 2);
}

TEST(ReleaseLease, RecordsWhoAndWhy) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(2));

    release(engine, running.spec->id);

    const Event event = engine.events(running.spec->id).back();
    EXPECT_EQ(event.step, Step::retried);
    EXPECT_EQ(event.actor, "user:ada");
    EXPECT_EQ(event.lease, running.lease->token);
    EXPECT_EQ(event.detail, R"({"error_code":"LEASE_RELEASED","error_message":"it hangs"})");
}

TEST(ReleaseLease, RecordsTheTicketBesideTheReason) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(2));

    engine.ask(ReleaseLease{
        .job = running.spec->id, .reason = "it hangs", .actor = "user:ada", .ticket = "OPS-7"});

    EXPECT_EQ(engine.events(running.spec->id).back().detail,
              R"({"ticket":"OPS-7","error_code":"LEASE_RELEASED","error_message":"it hangs"})");
}

TEST(ReleaseLease, ADryRunAnswersTheJobAsItWouldBeAndChangesNothing) {
    for (const int attempts : {1, 2}) {
        TestEngine engine;
        const JobId id = engine.start(with_attempts(attempts)).spec->id;
        const Job before = engine.find(id);
        ReleaseLease command{.job = id, .reason = "it hangs", .actor = "user:ada", .dry_run = true};

        const auto tried = engine.ask(command);

        ASSERT_TRUE(tried);
        EXPECT_EQ(engine.find(id), before);
        EXPECT_EQ(engine.events(id).size(), 2u);
        command.dry_run = false;
        const auto done = engine.ask(command);
        EXPECT_EQ(tried->now.state, done->now.state);
        EXPECT_EQ(tried->now.attempt, done->now.attempt);
        EXPECT_EQ(tried->now.error_code, done->now.error_code);
        EXPECT_EQ(tried->now.completed_at, done->now.completed_at);
        EXPECT_EQ(tried->lease, done->lease);
    }
}

TEST(ReleaseLease, FencesTheWorker) {
    TestEngine engine;
    const Job old = engine.start(with_attempts(2));
    release(engine, old.spec->id);
    const Job current = engine.claim_one();

    EXPECT_EQ(refusal(engine.heartbeat(old)), ErrorCode::lease_lost);
    EXPECT_EQ(refusal(engine.report(old, Outcome::succeeded)), ErrorCode::lease_lost);
    EXPECT_EQ(refusal(engine.hand_back(old)), ErrorCode::lease_lost);
    EXPECT_EQ(engine.find(old.spec->id), current);
    EXPECT_EQ(engine.report(current, Outcome::succeeded)->now.state, JobState::succeeded);
}

TEST(ReleaseLease, OfTheLastAttemptFailsTheJob) {
    TestEngine engine;
    const Job running = engine.start(with_attempts(1));
    JobSpec then = spec();
    then.depends_on = {running.spec->id};
    const Job dependent = engine.submit(then);

    const auto job = release(engine, running.spec->id);

    ASSERT_TRUE(job);
    EXPECT_EQ(job->now.state, JobState::failed);
    EXPECT_EQ(job->now.error_code, lease_released_code);
    EXPECT_EQ(job->now.error_message, "it hangs");
    EXPECT_EQ(job->lease, std::nullopt);
    EXPECT_EQ(engine.find(dependent.spec->id).now.state, JobState::canceled);
    EXPECT_EQ(refusal(engine.report(running, Outcome::succeeded)), ErrorCode::lease_lost);
}

TEST(ReleaseLease, FreesTheKeys) {
    TestEngine engine;
    JobSpec keyed = with_attempts(2);
    keyed.exclusive_keys = {"k"};
    const Job running = engine.start(keyed);
    keyed.priority = 1;
    const Job urgent = engine.submit(keyed);

    release(engine, running.spec->id);

    EXPECT_EQ(engine.claim_one().spec->id, urgent.spec->id);
}

TEST(ReleaseLease, OfAJobThatHasEndedClosesItsLease) {
    TestEngine engine;
    const Job running = engine.start(spec());
    engine.cancel(running.spec->id);

    const auto job = release(engine, running.spec->id);

    ASSERT_TRUE(job);
    EXPECT_EQ(job->now.state, JobState::canceled);
    EXPECT_EQ(job->lease, std::nullopt);
    EXPECT_EQ(engine.steps(running.spec->id).back(), Step::lease_closed);
}

TEST(ReleaseLease, OfAJobThatNobodyHoldsIsAConflictAndChangesNothing) {
    TestEngine engine;
    const Job queued = engine.submit(spec());
    const Job before = engine.find(queued.spec->id);

    EXPECT_EQ(refusal(release(engine, queued.spec->id)), ErrorCode::conflict);
    EXPECT_EQ(engine.find(queued.spec->id), before);
    const Job running = engine.claim_one();
    release(engine, running.spec->id);
    EXPECT_EQ(refusal(release(engine, running.spec->id)), ErrorCode::conflict);
}

TEST(ReleaseLease, OfAJobOfAnotherTenantIsNotFound) {
    TestEngine engine;
    const Job running = engine.start(spec());

    EXPECT_EQ(refusal(release(engine, running.spec->id, "other")), ErrorCode::not_found);
    EXPECT_EQ(refusal(release(engine, JobId{1})), ErrorCode::not_found);
    EXPECT_EQ(engine.find(running.spec->id).lease, running.lease);
}

}  // namespace release_leases_test
}  // namespace sluice
