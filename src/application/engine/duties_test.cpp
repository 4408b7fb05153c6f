#include "application/engine/duties.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/commit.hpp"
#include "support/faulty_store.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace duties_test {

using namespace std::chrono_literals;

std::map<std::string_view, DutyRun> runs_of(const Engine::Ran& ran) {
    std::map<std::string_view, DutyRun> runs;
    for (const DutyRun& run : ran.counts.duties) runs[run.duty] = run;
    return runs;
}

TEST(Duty, HasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (const DutyName& duty : duty::all) EXPECT_TRUE(names.insert(duty.name).second) << duty.name;
}

TEST(Duty, TellsWhatItHasDealtWith) {
    TestEngine engine;
    engine.start(spec());
    engine.sleep(TestEngine::term);

    const auto runs = runs_of(engine.run());

    ASSERT_TRUE(runs.contains("leases"));
    EXPECT_EQ(runs.at("leases").items, 1);
    EXPECT_EQ(runs.at("leases").at, engine.now());
    EXPECT_FALSE(runs.at("leases").failed);
    EXPECT_EQ(runs.at("deadlines").items, 0);
}

TEST(Duty, HasFailedWithTheCommitThatItWasPartOf) {
    MemoryStore inner;
    FaultyStore store(inner);
    TestEngine engine(store);
    JobSpec twice = spec();
    twice.max_attempts = 2;
    const Job job = engine.start(twice);
    engine.sleep(TestEngine::term);

    store.fail_next(FaultyStore::Moment::before_commit);
    const auto failed = runs_of(engine.run());
    engine.sleep(2s);
    engine.run();
    engine.sleep(TestEngine::term);
    engine.run();

    EXPECT_TRUE(failed.at("leases").failed);
    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::queued)
        << "a later run finds it again";
}

TEST(Duty, OfRetentionWakesTheEngineOnlyWhereSomethingIsToGo) {
    TestEngine without;
    without.run();
    EXPECT_EQ(without.engine().next_due(), never);

    Engine::Options options;
    options.retention = Retention(24h);
    TestEngine with(options);
    with.run();
    EXPECT_EQ(with.engine().next_due(), with.now() + 10s);
}

TEST(Duty, OfRetentionIsThatOfTheCommitterThatSweeps) {
    Engine::Options options;
    options.retention = Retention(24h);
    options.sweeps = false;
    TestEngine engine(options);

    const auto runs = runs_of(engine.run());

    EXPECT_FALSE(runs.contains("retention"));
    EXPECT_EQ(engine.engine().next_due(), never);
}

// A part that fails each time, for example because it takes longer than a statement may, affects
// nothing else.
TEST(Duty, OfRetentionFailsAloneAndIsNotTriedAgainAtOnce) {
    MemoryStore inner;
    FaultyStore store(inner);
    Engine::Options options;
    options.retention = Retention(1h);
    TestEngine engine(store, options);
    const Job job = engine.start(spec());
    engine.report(job, Outcome::succeeded);
    engine.sleep(2h);
    store.set_archive_broken(true);
    std::vector<Duration> waits;

    for (int failures = 0; failures < 9; ++failures) {
        const Engine::Ran ran = engine.run();
        EXPECT_FALSE(ran.counts.has_failed());
        const auto runs = runs_of(ran);
        ASSERT_TRUE(runs.contains("retention"));
        EXPECT_TRUE(runs.at("retention").failed);
        EXPECT_NE(runs.at("retention").error, "");
        EXPECT_FALSE(runs_of(engine.run()).contains("retention")) << "but others have their turn";
        EXPECT_FALSE(engine.engine().wants_a_turn(engine.now())) << "claims come first";
        waits.push_back(engine.engine().next_due() - engine.now());
        engine.submit(spec("any"));
        engine.sleep(waits.back());
    }
    EXPECT_EQ(waits.front(), 10s);
    EXPECT_EQ(waits[1], 20s);
    EXPECT_EQ(waits.back(), 10min);
    store.set_archive_broken(false);
    EXPECT_FALSE(runs_of(engine.run()).at("retention").failed);
    EXPECT_FALSE(engine.store().reader()->find_one(job.spec->id));
}

TEST(Duty, OfSourcesForgetsThoseThatAreNotSeenForADay) {
    TestEngine engine;
    JobSpec once = spec();
    once.source = "once";
    const Job job = engine.start(once);
    const auto known = [&] {
        return commit(engine.store(), [](Session& session) {
            return session.limits().knows_source("default", "once");
        });
    };
    engine.report(job, Outcome::succeeded);
    engine.sleep(20h);
    engine.run();
    EXPECT_TRUE(known());

    engine.sleep(6h);
    const auto runs = runs_of(engine.run());

    EXPECT_EQ(runs.at("sources").items, 1);
    EXPECT_FALSE(known());
}

TEST(Duty, OfRetentionHasATurnBesideNoCommand) {
    Engine::Options options;
    options.retention = Retention(1h);
    TestEngine engine(options);
    ASSERT_TRUE(engine.engine().wants_a_turn(engine.now()));
    Batch batch;
    put(batch, submission({spec()}));

    EXPECT_FALSE(runs_of(engine.run(batch)).contains("retention"));
    EXPECT_TRUE(runs_of(engine.run()).contains("retention"));
    EXPECT_FALSE(engine.engine().wants_a_turn(engine.now()));
}

TEST(Duty, OfRetentionWaitsWhileTheDiskIsFull) {
    MemoryStore inner;
    FaultyStore store(inner);
    Engine::Options options;
    options.retention = Retention(1h);
    TestEngine engine(store, options);
    const Job job = engine.start(spec());
    engine.report(job, Outcome::succeeded);
    engine.sleep(2h);
    store.set_full(true, 10);
    engine.ask(submission({spec()}));

    const auto runs = runs_of(engine.run());

    EXPECT_FALSE(runs.contains("retention"));
    EXPECT_GT(engine.engine().next_due(), engine.now());
    EXPECT_TRUE(engine.store().reader()->find_one(job.spec->id));
}

}  // namespace duties_test
}  // namespace sluice
