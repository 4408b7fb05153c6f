// Several commands for one job in one commit.
#include "application/ports/batch.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace batch_test {

using namespace std::chrono_literals;

TEST(OneBatch, TakesTheSameReportTwiceAndDoesItOnce) {
    TestEngine engine;
    const Job job = engine.start(spec());
    Batch batch;
    const auto first = put(batch, report_of(job, Outcome::succeeded));
    const auto second = put(batch, report_of(job, Outcome::succeeded));

    engine.run(batch);

    ASSERT_TRUE(**first);
    ASSERT_TRUE(**second);
    EXPECT_EQ(***second, ***first);
    EXPECT_EQ(engine.events(job.spec->id).size(), 3u);
}

TEST(OneBatch, TakesTheFirstOfTwoReportsThatDiffer) {
    TestEngine engine;
    const Job job = engine.start(spec());
    Batch batch;
    const auto first = put(batch, report_of(job, Outcome::failed));
    const auto second = put(batch, report_of(job, Outcome::succeeded));

    engine.run(batch);

    EXPECT_TRUE(**first);
    EXPECT_EQ(refusal(**second), ErrorCode::conflict);
    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::failed);
}

TEST(OneBatch, TakesTheSameRetryReportTwiceAndCountsOneAttempt) {
    TestEngine engine;
    JobSpec thrice = spec();
    thrice.max_attempts = 3;
    const Job job = engine.start(thrice);
    Batch batch;
    const auto first = put(batch, report_of(job, Outcome::failed, "E"));
    const auto second = put(batch, report_of(job, Outcome::failed, "E"));

    engine.run(batch);

    EXPECT_EQ(***second, ***first);
    EXPECT_EQ(engine.find(job.spec->id).now.attempt, 1);
}

TEST(OneBatch, LetsAReportWinOverACancel) {
    TestEngine engine;
    const Job job = engine.start(spec());
    Batch batch;
    const auto cancel = put(batch, CancelJob{.job = job.spec->id});
    const auto report = put(batch, report_of(job, Outcome::succeeded));

    engine.run(batch);

    EXPECT_TRUE(**report);
    EXPECT_EQ(refusal(**cancel), ErrorCode::conflict);
    EXPECT_EQ(engine.find(job.spec->id).now.state, JobState::succeeded);
}

TEST(OneBatch, CancelsARetryThatItMade) {
    TestEngine engine;
    JobSpec twice = spec();
    twice.max_attempts = 2;
    const Job job = engine.start(twice);
    Batch batch;
    put(batch, report_of(job, Outcome::failed));
    const auto cancel = put(batch, CancelJob{.job = job.spec->id});
    const auto claim = put(batch, engine.claim_command());

    engine.run(batch);

    EXPECT_EQ((**cancel)->now.state, JobState::canceled);
    EXPECT_TRUE((***claim).empty());
}

TEST(OneBatch, TakesAHeartbeatLinesAndAReportInThatOrder) {
    TestEngine engine;
    const Job job = engine.start(spec());
    Batch batch;
    const auto report = put(batch, report_of(job, Outcome::succeeded));
    const auto lines =
        put(batch, AppendLogs{.lease = lease_of(job), .entries = {{.message = "last words"}}});
    const auto heartbeat = put(batch, Heartbeat{.lease = lease_of(job), .progress = 50});

    engine.run(batch);

    EXPECT_TRUE(**heartbeat);
    EXPECT_TRUE(**lines);
    EXPECT_EQ((**report)->now.progress, 100);
    EXPECT_EQ((**report)->now.log_seq, 1);
    EXPECT_EQ(engine.events(job.spec->id).back().log_seq, 1);
}

TEST(OneBatch, RefusesAHandBackAfterAReport) {
    TestEngine engine;
    const Job job = engine.start(spec());
    Batch batch;
    const auto hand_back = put(batch, HandBack{.lease = lease_of(job)});
    const auto report = put(batch, report_of(job, Outcome::succeeded));

    engine.run(batch);

    EXPECT_TRUE(**report);
    EXPECT_EQ(refusal(**hand_back), ErrorCode::lease_lost);
}

TEST(OneBatch, ReplaysWhatItEnded) {
    TestEngine engine;
    const Job job = engine.start(spec());
    Batch batch;
    put(batch, report_of(job, Outcome::failed));
    const auto replay = put(batch, ReplayJob{.job = job.spec->id});
    const auto claim = put(batch, engine.claim_command());

    engine.run(batch);

    ASSERT_TRUE(**replay);
    EXPECT_EQ(ids_of(***claim), (std::vector{(**replay)->spec->id}));
}

TEST(OneBatch, GivesAFreedKeyToAClaim) {
    TestEngine engine;
    JobSpec keyed = spec();
    keyed.exclusive_keys = {"k"};
    const Job job = engine.start(keyed);
    const Job next = engine.submit(keyed);
    Batch batch;
    const auto claim = put(batch, engine.claim_command());
    put(batch, report_of(job, Outcome::succeeded));

    engine.run(batch);

    EXPECT_EQ(ids_of(***claim), (std::vector{next.spec->id}));
}

TEST(OneBatch, AnswersEachCallerWithItsOwnAnswers) {
    TestEngine engine;
    const auto jobs = engine.submit_all({spec(), spec(), spec()});
    const auto running = engine.claim({}, 3);
    std::vector<std::vector<JobId>> answers(2);
    Batch batch;
    for (std::size_t caller = 0; caller < 2; ++caller) {
        PendingOf<Report> pending;
        if (caller == 0) pending.items = {report_of(running[2], Outcome::succeeded)};
        if (caller == 1) {
            pending.items = {report_of(running[1], Outcome::succeeded),
                             report_of(running[0], Outcome::succeeded)};
        }
        pending.done = [&answers, caller](std::vector<Result<Job>> got) {
            for (const auto& answer : got) answers[caller].push_back(answer->spec->id);
        };
        batch.reports.push_back(std::move(pending));
    }

    engine.run(batch);

    EXPECT_EQ(answers[0], (std::vector{jobs[2].spec->id}));
    EXPECT_EQ(answers[1], (std::vector{jobs[1].spec->id, jobs[0].spec->id}));
}

TEST(OneBatch, TellsWhichJobsWereTouched) {
    TestEngine engine;
    const Job quiet = engine.start(spec());
    const Job talking = engine.start(spec());
    Batch batch;
    put(batch, Heartbeat{.lease = lease_of(quiet)});
    put(batch, AppendLogs{.lease = lease_of(talking), .entries = {{.message = "a"}}});

    const Engine::Ran ran = engine.run(batch);

    EXPECT_EQ(ran.touched, (std::vector{talking.spec->id}));
}

TEST(OneBatch, CountsDepthsAfterEverythingElse) {
    TestEngine engine;
    JobSpec later = spec("later");
    later.run_after = at(100);
    engine.submit_all({spec(), spec(), later});
    Batch batch;
    const auto depths = put(batch, AskDepths{});
    put(batch, engine.claim_command());

    engine.run(batch);

    ASSERT_EQ((***depths).size(), 2u);
    EXPECT_EQ((***depths)[0].lane.type, "later");
    EXPECT_EQ((***depths)[0].queued, 1);
    EXPECT_EQ((***depths)[1].queued, 1);
}

TEST(Batch, IsRefusedWhole) {
    Batch batch;
    const auto report = put(batch, Report{});
    const auto submit = put(batch, SubmitJobs{});
    EXPECT_EQ(batch.size(), 2u);

    batch.refuse({ErrorCode::shutting_down, "stopping", ""});
    batch.deliver();

    EXPECT_EQ(refusal(**report), ErrorCode::shutting_down);
    EXPECT_EQ(refusal(**submit), ErrorCode::shutting_down);
}

}  // namespace batch_test
}  // namespace sluice
