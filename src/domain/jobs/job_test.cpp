#include "domain/jobs/job.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace job_test {

using namespace std::chrono_literals;

TEST(HeldKeys, AreTheSiteTheNodeAndTheExclusiveKeys) {
    JobSpec spec;
    spec.site_id = "s";
    spec.node_id = "n";
    spec.exclusive_keys = {"a", "b"};

    const auto keys = held_keys(spec);

    EXPECT_EQ(keys, (std::vector<std::string>{"site_id=s", "node_id=n", "key=a", "key=b"}));
}

TEST(HeldKeys, KeepAKeyApartFromASiteOfTheSameName) {
    JobSpec site;
    site.site_id = "x";
    JobSpec key;
    key.exclusive_keys = {"site_id=x"};

    EXPECT_NE(held_keys(site), held_keys(key));
}

TEST(HeldKeys, AreNoneWhenNothingWasAskedFor) {
    EXPECT_TRUE(held_keys(JobSpec{}).empty());
}

TEST(Apply, TakesAStepOfTheTable) {
    Job job;

    const auto moved = job.apply(Step::claimed);

    ASSERT_TRUE(moved);
    EXPECT_EQ(*moved, JobState::running);
    EXPECT_EQ(job.now.state, JobState::running);
}

TEST(Apply, RefusesAStepThatIsNotInTheTableAndChangesNothing) {
    Job job;
    job.now.state = JobState::succeeded;
    const Job before = job;

    const auto moved = job.apply(Step::canceled);

    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().code, ErrorCode::conflict);
    EXPECT_EQ(moved.error().message, "the job is succeeded, so it cannot be canceled");
    EXPECT_EQ(job, before);
}

JobSpec spec_with_timeout(Duration timeout) {
    JobSpec spec;
    spec.timeout = timeout;
    return spec;
}

TEST(Deadline, IsTheTimeoutAfterTheStartOfTheAttempt) {
    Job job;
    job.now.state = JobState::running;
    job.now.started_at = from_micros(100);
    job.spec = spec_with_timeout(50us);

    EXPECT_EQ(job.deadline(), from_micros(150));
}

TEST(Deadline, IsNeverWithoutATimeoutOrWithoutARunningAttempt) {
    Job no_timeout;
    no_timeout.now.state = JobState::running;
    no_timeout.now.started_at = from_micros(100);
    Job queued;
    queued.spec = spec_with_timeout(50us);
    Job ended = no_timeout;
    ended.spec = spec_with_timeout(50us);
    ended.now.state = JobState::timed_out;

    EXPECT_EQ(no_timeout.deadline(), never);
    EXPECT_EQ(queued.deadline(), never);
    EXPECT_EQ(ended.deadline(), never);
}

TEST(IsLeasedUnder, IsTrueForTheCurrentTokenOnly) {
    Job job;
    EXPECT_FALSE(job.is_leased_under(LeaseToken{0}));

    job.lease = Lease{};
    job.lease->token = LeaseToken{2};

    EXPECT_TRUE(job.is_leased_under(LeaseToken{2}));
    EXPECT_FALSE(job.is_leased_under(LeaseToken{1}));
}

TEST(Accepted, IsQueuedUntilItsTime) {
    JobSpec spec;
    spec.id = JobId{5};
    spec.run_after = from_micros(77);

    const Job job = accepted(spec);

    EXPECT_EQ(job.spec, spec);
    EXPECT_EQ(job.now.state, JobState::queued);
    EXPECT_EQ(job.now.attempt, 0);
    EXPECT_EQ(job.now.run_after, from_micros(77));
    EXPECT_EQ(job.now.head, ChainHead{});
}

}  // namespace job_test
}  // namespace sluice
