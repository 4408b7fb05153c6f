#include "application/leases/expire_leases.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/test_engine.hpp"

namespace sluice {
namespace expire_leases_test {

using namespace std::chrono_literals;

JobSpec keyed_with_attempts(int attempts) {
    JobSpec made = spec();
    made.max_attempts = attempts;
    made.backoff = Backoff::list({1h});
    made.exclusive_keys = {"k"};
    return made;
}

TEST(LostLease, QueuesTheJobAgainAtOnceAndTheAttemptCounts) {
    TestEngine engine;
    const Job running = engine.start(keyed_with_attempts(2));

    engine.advance(TestEngine::term);

    const Job job = engine.find(running.spec->id);
    EXPECT_EQ(job.now.state, JobState::queued);
    EXPECT_EQ(job.now.attempt, 1);
    EXPECT_EQ(job.now.run_after, at(30));
    EXPECT_EQ(job.now.error_code, "LEASE_EXPIRED");
    EXPECT_NE(job.now.error_message.find("worker"), std::string::npos);
    EXPECT_EQ(job.lease, std::nullopt);
    EXPECT_EQ(job.now.started_at, std::nullopt);
    EXPECT_EQ(engine.claim_one().now.attempt, 2);
}

TEST(LostLease, FailsTheJobWhenNoAttemptIsLeft) {
    TestEngine engine;
    const Job running = engine.start(keyed_with_attempts(1));

    engine.advance(TestEngine::term);

    const Job job = engine.find(running.spec->id);
    EXPECT_EQ(job.now.state, JobState::failed);
    EXPECT_EQ(job.now.error_code, "LEASE_EXPIRED");
    EXPECT_EQ(job.now.completed_at, at(30));
    EXPECT_EQ(job.lease, std::nullopt);
}

TEST(LostLease, IsRecordedAsTheEnginesDoing) {
    TestEngine engine;
    const Job running = engine.start(keyed_with_attempts(2));

    engine.advance(TestEngine::term);

    const Event event = engine.events(running.spec->id).back();
    EXPECT_EQ(event.step, Step::lease_expired);
    EXPECT_EQ(event.actor, "engine");
    EXPECT_EQ(event.lease, running.lease->token);
    EXPECT_EQ(event.at, at(30));
}

TEST(LostLease, IsNotLostAMicrosecondTooEarly) {
    TestEngine engine;
    const Job running = engine.start(keyed_with_attempts(2));

    engine.advance(TestEngine::term - 1us);

    EXPECT_EQ(engine.find(running.spec->id).now.state, JobState::running);
    EXPECT_EQ(engine.engine().next_due(), at(30));
}

TEST(LostLease, FreesTheKeys) {
    TestEngine engine;
    engine.start(keyed_with_attempts(1));
    engine.submit(keyed_with_attempts(1));
    EXPECT_TRUE(engine.claim().empty());

    engine.advance(TestEngine::term);

    EXPECT_EQ(engine.claim().size(), 1u);
}

TEST(LostLease, IsNotLostWhenTheWorkerSpeaksBeforeItIsTakenAway) {
    TestEngine engine;
    const Job running = engine.start(keyed_with_attempts(2));
    engine.sleep(10min);

    EXPECT_EQ(engine.report(running, Outcome::succeeded)->now.state, JobState::succeeded);
}

TEST(LostLease, IsDealtWithBeforeTheClaimsOfALateRun) {
    TestEngine engine;
    const Job running = engine.start(keyed_with_attempts(2));
    engine.sleep(10min);
    Batch batch;
    const auto claim = put(batch, engine.claim_command());

    engine.run(batch);

    EXPECT_EQ(engine.find(running.spec->id).now.attempt, 2);
    EXPECT_EQ((***claim).at(0).now.attempt, 2);
}

TEST(LostLease, OfACanceledJobOnlyClosesTheLease) {
    TestEngine engine;
    const Job running = engine.start(keyed_with_attempts(2));
    engine.cancel(running.spec->id);
    const Job canceled = engine.find(running.spec->id);

    engine.advance(TestEngine::term);

    const Job job = engine.find(running.spec->id);
    EXPECT_EQ(job.now.state, JobState::canceled);
    EXPECT_EQ(job.now.completed_at, canceled.now.completed_at);
    EXPECT_EQ(job.lease, std::nullopt);
    EXPECT_EQ(engine.steps(job.spec->id).back(), Step::lease_closed);
    EXPECT_EQ(engine.events(job.spec->id).back().actor, "engine");
}

TEST(LostLease, CarriesOnToDependents) {
    TestEngine engine;
    const Job running = engine.start(keyed_with_attempts(1));
    JobSpec after = spec();
    after.depends_on = {running.spec->id};
    const Job dependent = engine.submit(after);

    engine.advance(TestEngine::term);

    EXPECT_EQ(engine.find(dependent.spec->id).now.state, JobState::canceled);
}

TEST(LostLease, OfThousandsAtOnceAreAllDealtWithAtThatMoment) {
    TestEngine engine;
    for (int i = 0; i < 25; ++i) engine.submit_all(std::vector<JobSpec>(100, spec()));
    EXPECT_EQ(engine.claim({}, 2500).size(), 2500u);

    engine.advance(TestEngine::term);

    EXPECT_EQ(engine.store().reader()->list({.states = {JobState::failed}}, newest, 9999).size(),
              2500u);
    EXPECT_EQ(engine.engine().next_due(), never);
}

TEST(LostLease, IsCounted) {
    TestEngine engine;
    engine.start(keyed_with_attempts(2));
    engine.sleep(TestEngine::term);

    EXPECT_EQ(engine.run().counts.leases_expired, 1);
}

TEST(LostLeaseOfTheLastAttempt, IsCountedToo) {
    TestEngine engine;
    engine.start(keyed_with_attempts(1));
    engine.sleep(TestEngine::term);

    const Engine::Ran ran = engine.run();

    EXPECT_EQ(ran.counts.leases_expired, 1);
    EXPECT_EQ(ran.counts.ended[static_cast<std::size_t>(JobState::failed)], 1);
}

// As after a restart on a machine whose clock was set back meanwhile.
struct ClockSetBack {
    TestEngine engine{};
    Job later{};  // claimed an hour from now

    ClockSetBack() {
        engine.sleep(1h);
        later = engine.start(spec());
        engine.sleep(-1h);
    }
    // Runs the batch in the transaction in which that job ends.
    void run_with_its_end(Batch batch = {}) {
        put(batch, report_of(later, Outcome::succeeded));
        engine.run(batch);
    }
};

TEST(ClockSetBack, EndsNoLeaseEarly) {
    ClockSetBack set_back;
    TestEngine& engine = set_back.engine;
    const Job due = engine.start(keyed_with_attempts(2));
    engine.sleep(5s);
    const Job held = engine.start(spec());
    engine.sleep(25s);

    set_back.run_with_its_end();

    EXPECT_EQ(engine.find(due.spec->id).now.state, JobState::queued);
    EXPECT_EQ(engine.find(held.spec->id).now.state, JobState::running);
}

TEST(ClockSetBack, GivesNoLeaseForTooLong) {
    ClockSetBack set_back;
    TestEngine& engine = set_back.engine;
    const Job ready = engine.submit(spec());
    Batch batch;
    put(batch, engine.claim_command());

    set_back.run_with_its_end(std::move(batch));

    EXPECT_EQ(engine.find(ready.spec->id).lease->until, engine.now() + TestEngine::term);
}

TEST(ClockSetBack, TellsTheHistoryOfRetriesAndOfDependentsInOrder) {
    TestEngine engine;
    engine.sleep(1h);
    const Job job = engine.submit(keyed_with_attempts(2));
    JobSpec after = spec();
    after.depends_on = {job.spec->id};
    const Job dependent = engine.submit(after);
    engine.sleep(-1h);
    for (int attempt = 0; attempt < 2; ++attempt) {
        engine.report(engine.claim_one(), Outcome::failed);
        engine.advance(1min);
    }

    for (const JobId id : {job.spec->id, dependent.spec->id}) {
        const std::vector<Event> events = engine.events(id);
        EXPECT_TRUE(is_final(engine.find(id).now.state));
        EXPECT_TRUE(std::is_sorted(events.begin(), events.end(),
                                   [](const Event& a, const Event& b) { return a.at < b.at; }));
        EXPECT_GE(*engine.find(id).now.completed_at, engine.find(id).spec->created_at);
    }
}

TEST(ClockSetBack, TellsTheHistoryInOrder) {
    ClockSetBack set_back;

    set_back.run_with_its_end();

    const std::vector<Event> events = set_back.engine.events(set_back.later.spec->id);
    EXPECT_EQ(events.back().step, Step::succeeded);
    EXPECT_GE(events.back().at, events[events.size() - 2].at);
}

}  // namespace expire_leases_test
}  // namespace sluice
