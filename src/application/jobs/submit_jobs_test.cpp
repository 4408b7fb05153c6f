#include "application/jobs/submit_jobs.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace submit_jobs_test {

using namespace std::chrono_literals;

TEST(SubmitJobs, GivesTheJobItsIdAndItsTime) {
    TestEngine engine;
    engine.advance(7s);

    const Job job = engine.submit(spec());

    EXPECT_GT(job.spec->id, JobId{});
    EXPECT_EQ(job.spec->created_at, at(7));
    EXPECT_EQ(job.now.run_after, at(7));
    EXPECT_EQ(job.now.state, JobState::queued);
    EXPECT_EQ(job.now.attempt, 0);
    EXPECT_EQ(engine.find(job.spec->id), job);
}

TEST(SubmitJobs, IgnoresAnIdAndATimeThatTheCallerMadeUp) {
    TestEngine engine;
    JobSpec made_up = spec(5);
    made_up.created_at = at(-100);

    const Job job = engine.submit(made_up);

    EXPECT_NE(job.spec->id, JobId{5});
    EXPECT_EQ(job.spec->created_at, at(0));
}

TEST(SubmitJobs, RecordsWhoAsked) {
    TestEngine engine;

    const Job job = engine.submit(spec());

    const auto events = engine.events(job.spec->id);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].step, Step::submitted);
    EXPECT_EQ(events[0].actor, "client");
    EXPECT_EQ(events[0].to, JobState::queued);
    EXPECT_EQ(job.now.head, (ChainHead{1, events[0].hash}));
}

TEST(SubmitJobs, KeepsThePayloadByteForByte) {
    TestEngine engine;
    JobSpec odd = spec();
    odd.payload = "{ \"n\" : 1.0e+2 ,\r\n\"text\":\"\\u00e9 水\" }";
    odd.payload_digest = sha256(odd.payload);

    const Job job = engine.submit(odd);

    EXPECT_EQ(engine.find(job.spec->id).spec->payload, odd.payload);
    EXPECT_EQ(engine.find(job.spec->id).spec->payload_digest, sha256(odd.payload));
}

TEST(SubmitJobs, GivesIncreasingIdsInTheOrderOfTheCommand) {
    TestEngine engine;

    const auto jobs = engine.submit_all({spec("a"), spec("b"), spec("c")});

    ASSERT_EQ(jobs.size(), 3u);
    EXPECT_LT(jobs[0].spec->id, jobs[1].spec->id);
    EXPECT_LT(jobs[1].spec->id, jobs[2].spec->id);
    EXPECT_EQ(jobs[2].spec->type, "c");
}

TEST(SubmitJobs, KeepsALaterRunAfterAndRaisesAnEarlierOne) {
    TestEngine engine;
    engine.advance(100s);
    JobSpec later = spec();
    later.run_after = at(500);
    JobSpec earlier = spec();
    earlier.run_after = at(1);

    EXPECT_EQ(engine.submit(later).now.run_after, at(500));
    EXPECT_EQ(engine.submit(earlier).now.run_after, at(100));
}

TEST(SubmitJobs, RefusesADependencyThatDoesNotExist) {
    TestEngine engine;
    JobSpec lost = spec();
    lost.depends_on = {JobId{12345}};

    const auto answer = engine.ask(submission({lost}));

    ASSERT_EQ(refusal(answer), ErrorCode::invalid);
    EXPECT_EQ(answer.error().pointer, "/depends_on");
    EXPECT_NE(answer.error().message.find(to_text(JobId{12345})), std::string::npos);
    EXPECT_EQ(engine.count_jobs(), 0u);
}

TEST(SubmitJobs, RefusesADependencyOfAnotherTenantAsIfItDidNotExist) {
    TestEngine engine;
    const Job theirs = engine.submit(spec());
    JobSpec mine = spec();
    mine.tenant = "other";
    mine.depends_on = {theirs.spec->id};

    const auto answer = engine.ask(submission({mine}));

    ASSERT_EQ(refusal(answer), ErrorCode::invalid);
    EXPECT_EQ(answer.error().message, "no job has the id " + to_text(theirs.spec->id));
}

TEST(SubmitJobs, TakesAllJobsOfACommandOrNone) {
    TestEngine engine;
    JobSpec lost = spec();
    lost.depends_on = {JobId{12345}};
    SubmitJobs command = submission({spec(), spec(), lost});
    command.is_batch = true;

    const auto answer = engine.ask(command);

    ASSERT_EQ(refusal(answer), ErrorCode::invalid);
    EXPECT_EQ(answer.error().pointer, "/jobs/2/depends_on");
    EXPECT_EQ(engine.count_jobs(), 0u);
    EXPECT_TRUE(engine.claim({}, 10).empty());
}

TEST(SubmitJobs, RefusesOneCommandWithoutHarmToItsNeighbours) {
    TestEngine engine;
    JobSpec lost = spec();
    lost.depends_on = {JobId{12345}};
    Batch batch;
    const auto first = put(batch, submission({spec("first")}));
    const auto bad = put(batch, submission({lost}));
    const auto last = put(batch, submission({spec("last"), spec("last")}));

    engine.run(batch);

    EXPECT_EQ((*first)->operator*().jobs.at(0).spec->type, "first");
    EXPECT_EQ(refusal(**bad), ErrorCode::invalid);
    EXPECT_EQ((*last)->operator*().jobs.size(), 2u);
    EXPECT_EQ(engine.count_jobs(), 3u);
}

TEST(SubmitJobs, TurnsReferencesToSiblingsIntoIds) {
    TestEngine engine;
    const Job outside = engine.submit(spec());
    JobSpec last = spec();
    last.depends_on = {outside.spec->id};

    const auto jobs = engine.submit_all({spec(), spec(), last}, {{}, {0}, {1, 0, 1}});

    EXPECT_TRUE(jobs[0].spec->depends_on.empty());
    EXPECT_EQ(jobs[1].spec->depends_on, (std::vector{jobs[0].spec->id}));
    EXPECT_EQ(jobs[2].spec->depends_on,
              (std::vector{outside.spec->id, jobs[0].spec->id, jobs[1].spec->id}));
}

TEST(SubmitJobs, RefusesSiblingsThatWaitForEachOther) {
    TestEngine engine;
    const std::vector<std::vector<std::vector<std::size_t>>> circles{
        {{0}}, {{1}, {0}}, {{}, {2}, {3}, {1}}, {{1}, {2}, {2}}};
    for (const auto& circle : circles) {
        SubmitJobs command = submission(std::vector<JobSpec>(circle.size(), spec()));
        command.siblings = circle;
        command.is_batch = true;

        const auto answer = engine.ask(command);

        ASSERT_EQ(refusal(answer), ErrorCode::invalid);
        EXPECT_TRUE(answer.error().pointer.ends_with("/depends_on")) << answer.error().pointer;
    }
    EXPECT_EQ(engine.count_jobs(), 0u);
}

TEST(SubmitJobs, CountsWhatItDid) {
    TestEngine engine;
    Batch batch;
    put(batch, submission({spec(), spec()}));

    const Engine::Ran ran = engine.run(batch);

    EXPECT_EQ(ran.counts.commands, 1u);
    EXPECT_EQ(ran.counts.submitted, 2);
    EXPECT_EQ(ran.touched.size(), 2u);
    EXPECT_FALSE(ran.counts.has_failed());
}

}  // namespace submit_jobs_test
}  // namespace sluice
