#include "application/jobs/remove_old_jobs.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "application/audit/verify_history.hpp"
#include "application/entities/entity_changes.hpp"
#include "json/json_values.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace remove_old_jobs_test {

using namespace std::chrono_literals;

constexpr Duration kept = 1h;

Engine::Options keeping(Retention retention) {
    Engine::Options options;
    options.retention = retention;
    return options;
}

class OldJobs : public testing::Test {
  protected:
    bool is_there(JobId id) { return engine.store().reader()->find_one(id).has_value(); }

    Job end(const JobSpec& spec, Outcome outcome = Outcome::succeeded) {
        const Job job = engine.start(spec);
        EXPECT_TRUE(engine.report(job, outcome));
        return job;
    }

    TestEngine engine{keeping(Retention(kept))};
};

TEST_F(OldJobs, GoWithAllThatIsOnlyTheirs) {
    const Job job = engine.start(spec());
    engine.ask(AppendLogs{.lease = lease_of(job), .entries = {{.message = "one line"}}});
    engine.report(job, Outcome::succeeded);

    engine.advance(kept - 1min);
    EXPECT_TRUE(is_there(job.spec->id)) << "it is not old enough";
    engine.advance(3min);

    EXPECT_FALSE(is_there(job.spec->id));
    EXPECT_TRUE(engine.events(job.spec->id).empty());
    EXPECT_TRUE(engine.logs(job.spec->id).empty());
    EXPECT_FALSE(verify_history(*engine.store().reader()).first_break());
}

TEST_F(OldJobs, StayWhileTheyHaveNotEnded) {
    const Job runs = engine.start(spec("runs"));
    const Job waiting = engine.submit(spec("waits"));
    for (const Timestamp end = engine.now() + 2 * kept; engine.now() < end; engine.advance(20s)) {
        ASSERT_TRUE(engine.heartbeat(runs));
    }

    EXPECT_TRUE(is_there(waiting.spec->id));
    EXPECT_TRUE(is_there(runs.spec->id));
}

TEST_F(OldJobs, AreCountedFromTheirEnd) {
    const Job job = engine.submit(spec());
    engine.advance(3 * kept);
    engine.report(engine.claim_one(), Outcome::succeeded);

    engine.advance(kept - 1min);
    EXPECT_TRUE(is_there(job.spec->id));
    engine.advance(3min);

    EXPECT_FALSE(is_there(job.spec->id));
}

TEST_F(OldJobs, StayAsLongAsAnOpenJobDependsOnThem) {
    const Job first = end(spec());
    JobSpec dependent = spec("later");
    dependent.depends_on = {first.spec->id};
    const Job second = engine.submit(dependent);

    engine.advance(3 * kept);
    EXPECT_TRUE(is_there(first.spec->id));
    engine.report(engine.claim_one(), Outcome::succeeded);
    engine.advance(2min);

    EXPECT_FALSE(is_there(first.spec->id)) << "the job that depended on it has ended";
    EXPECT_EQ(engine.find(second.spec->id).spec->depends_on, std::vector{first.spec->id});
}

TEST_F(OldJobs, StayUntilTheirWorkerHasStopped) {
    const Job job = engine.start(spec());
    engine.cancel(job.spec->id);
    for (const Timestamp end = engine.now() + 2 * kept; engine.now() < end; engine.advance(20s)) {
        ASSERT_TRUE(engine.heartbeat(job));
    }

    EXPECT_TRUE(is_there(job.spec->id));
    engine.advance(2 * TestEngine::term + 2min);
    EXPECT_FALSE(is_there(job.spec->id));
}

TEST_F(OldJobs, AreStillShownAsWhatWasReplayed) {
    const Job first = end(spec(), Outcome::failed);
    const auto again = engine.replay(first.spec->id);
    ASSERT_TRUE(again);

    engine.advance(kept + 3min);

    EXPECT_FALSE(is_there(first.spec->id)) << "a replay has all that it needs";
    EXPECT_EQ(engine.find(again->spec->id).spec->replay_of, first.spec->id);
}

TEST_F(OldJobs, DoNotKeepARepeatedReplayFromItsAnswer) {
    const Job first = end(spec(), Outcome::failed);
    const ReplayJob command{.job = first.spec->id,
                            .tenant = "default",
                            .actor = "client",
                            .idempotency_key = "k",
                            .body_digest = digest(1)};
    const auto answer = engine.ask(command);
    ASSERT_TRUE(answer);

    engine.advance(kept + 3min);
    ASSERT_FALSE(is_there(first.spec->id));
    const auto again = engine.ask(command);

    ASSERT_TRUE(again);
    EXPECT_EQ(again->spec->id, answer->spec->id);
}

TEST(OldJobsByOutcome, GoWhenTheirOutcomeSaysSo) {
    Retention retention;
    retention.set(JobState::succeeded, kept);
    retention.set(JobState::failed, 3 * kept);
    TestEngine engine(keeping(retention));
    const Job good = engine.start(spec());
    engine.report(good, Outcome::succeeded);
    const Job bad = engine.start(spec());
    engine.report(bad, Outcome::failed);
    const Job canceled = engine.submit(spec());
    engine.cancel(canceled.spec->id);
    const auto is_there = [&](const Job& job) {
        return engine.store().reader()->find_one(job.spec->id).has_value();
    };

    engine.advance(kept + 3min);
    EXPECT_FALSE(is_there(good));
    EXPECT_TRUE(is_there(bad));
    engine.advance(2 * kept);
    EXPECT_FALSE(is_there(bad));
    engine.advance(10 * kept);
    EXPECT_TRUE(is_there(canceled)) << "what is not named is kept for ever";
}

TEST(OldJobsOfAKey, StayAsLongAsTheKeyStandsForThem) {
    Engine::Options options = keeping(Retention(1h));
    options.idempotency_memory = 5h;
    TestEngine engine(options);
    SubmitJobs command = submission({spec()});
    command.idempotency_key = "k";
    command.jobs.front().idempotency_key = "k";
    const auto first = engine.ask(command);
    engine.report(engine.claim_one(), Outcome::succeeded);

    engine.advance(4h);
    const auto again = engine.ask(command);
    ASSERT_TRUE(again);
    EXPECT_EQ(ids_of(again->jobs), ids_of(first->jobs));

    engine.advance(2h);
    engine.submit(spec("any"));  // keys are forgotten with a commit
    engine.advance(3min);
    EXPECT_FALSE(engine.store().reader()->find_one(first->jobs.front().spec->id));
}

TEST(ManyOldJobs, GoInSmallSteps) {
    TestEngine engine(keeping(Retention(kept)));
    for (int i = 0; i < 250; ++i) engine.submit(spec());
    for (const Job& job : engine.claim({}, 250)) engine.report(job, Outcome::succeeded);
    engine.sleep(kept + 1min);

    std::vector<std::int64_t> removed;
    for (int i = 0; i < 20 && engine.count_jobs() > 0; ++i) {
        for (const DutyRun& run : engine.run().counts.duties) {
            if (run.duty == duty::retention.name) removed.push_back(run.items);
        }
        engine.sleep(1s);
    }

    EXPECT_EQ(engine.count_jobs(), 0u);
    EXPECT_EQ(removed, (std::vector<std::int64_t>{100, 100, 50}));
}

// Lines are removed in parts, and no reader sees a job without some of them.
TEST_F(OldJobs, WithVeryManyLinesGoInSeveralSteps) {
    const Job large = engine.start(spec());
    for (int call = 0; call < 5; ++call) {
        AppendLogs lines{.lease = lease_of(large)};
        for (int i = 0; i < 1000; ++i) lines.entries.push_back({.message = "line"});
        ASSERT_TRUE(engine.ask(lines));
    }
    engine.report(large, Outcome::succeeded);
    const Job small = end(spec());
    engine.sleep(kept + 1min);

    std::vector<std::int64_t> removed;
    for (int i = 0; i < 20 && engine.count_jobs() > 0; ++i) {
        for (const DutyRun& run : engine.run().counts.duties) {
            if (run.duty == duty::retention.name) removed.push_back(run.items);
        }
        EXPECT_FALSE(is_there(large.spec->id));
        EXPECT_FALSE(verify_history(*engine.store().reader()).first_break());
        engine.sleep(1s);
    }

    EXPECT_FALSE(is_there(small.spec->id));
    EXPECT_TRUE(engine.logs(large.spec->id).empty());
    EXPECT_EQ(removed.front(), 1);
    EXPECT_EQ(std::accumulate(removed.begin(), removed.end(), 0), 2) << "each is counted once";
    EXPECT_TRUE(engine.store().begin()->archive().ended({}, newest, 10).empty());
}

// A walk that passes over many jobs and removes none is not begun again at once.
TEST(ManyNeededJobs, AreNotLookedAtAllTheTime) {
    Engine::Options options = keeping(Retention(kept));
    options.idempotency_memory = 24h;
    TestEngine engine(options);
    for (int batch = 0; batch < 30; ++batch) {
        SubmitJobs command = submission(std::vector<JobSpec>(100, spec()));
        command.idempotency_key = "k" + std::to_string(batch);
        for (JobSpec& made : command.jobs) made.idempotency_key = command.idempotency_key;
        ASSERT_TRUE(engine.ask(command));
        for (const Job& job : engine.claim({}, 100)) engine.report(job, Outcome::succeeded);
    }
    engine.sleep(kept + 1min);

    while (engine.engine().next_due() <= engine.now() + 1s) {
        engine.run();
        engine.sleep(20ms);
    }

    EXPECT_EQ(engine.count_jobs(), 3000u);
    EXPECT_GT(engine.engine().next_due(), engine.now() + 25s);
}

// ── gates ──

class CheckedEntity : public OldJobs {
  protected:
    Entity change(const std::function<void(EntityChanges&, Entity&)>& how) {
        const auto answer =
            engine.ask(EntityAction{.decide = [&](EntityChanges& changes) -> Result<EntityAnswer> {
                auto found = changes.find(changeset.key);
                how(changes, *found);
                return EntityAnswer{.entity = *found};
            }});
        return answer->entity.value();
    }

    void set_sha(const std::string& sha) {
        change([&](EntityChanges& changes, Entity& entity) {
            entity.attributes["head_sha"] = json_string(sha);
            changes.save(entity);
        });
    }

    Job pass(const std::string& sha) {
        JobSpec made = spec("msuite_submit");
        made.project = changeset.parent;
        made.entity_type = "changeset";
        made.entity_id = changeset.key.id;
        made.payload = to_json({{"head_sha", json_string(sha)}});
        return end(made);
    }

    Entity changeset = [this] {
        const auto answer =
            engine.ask(EntityAction{.decide = [](EntityChanges& changes) -> Result<EntityAnswer> {
                auto made = changes.create(
                    {{"default", "changeset", ""}, "app1", {{"head_sha", R"("abc")"}}});
                return EntityAnswer{.entity = *made};
            }});
        return answer->entity.value();
    }();
};

TEST_F(CheckedEntity, KeepsTheSuccessThatItsGateCounts) {
    const Job counted = pass("abc");
    const Job of_another = pass("old");

    engine.advance(3 * kept);

    EXPECT_TRUE(is_there(counted.spec->id));
    EXPECT_FALSE(is_there(of_another.spec->id)) << "its gate asks for the present revision";
}

TEST_F(CheckedEntity, LetsASuccessGoOnceItHasMovedOn) {
    const Job counted = pass("abc");
    engine.advance(3 * kept);
    ASSERT_TRUE(is_there(counted.spec->id));

    set_sha("def");
    engine.advance(2min);

    EXPECT_FALSE(is_there(counted.spec->id));
}

TEST_F(CheckedEntity, KeepsTheNewestSuccessThatAQuestionAboutItsTypeCounts) {
    JobSpec about = spec("scan");
    about.entity_type = "image";
    about.entity_id = "i1";
    const Job older = end(about);
    const Job newer = end(about);

    engine.advance(3 * kept);

    EXPECT_FALSE(is_there(older.spec->id));
    EXPECT_TRUE(is_there(newer.spec->id)) << "POST /gates/check with job_type asks for it";
}

}  // namespace remove_old_jobs_test
}  // namespace sluice
