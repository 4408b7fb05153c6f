#include "interfaces/http/native/job_json.hpp"

#include <gtest/gtest.h>

namespace sluice::http::native {
namespace job_json_test {

using namespace std::chrono_literals;

constexpr Timestamp created = from_micros(1'795'061'972'291'500);

Job retried_at(Timestamp run_after) {
    JobSpec spec;
    spec.created_at = created;
    Job job;
    job.spec = std::move(spec);
    job.now.state = JobState::queued;
    job.now.run_after = run_after;
    return job;
}

TEST(PlannedStart, IsTheTimeForWhichARetryWaits) {
    EXPECT_EQ(planned_start(retried_at(created + 1ms)), created + 1ms);
}

// A repeated report is answered from the history, which keeps milliseconds.
TEST(PlannedStart, IsTheSameWithTheTimeOfTheHistory) {
    const Timestamp run_after = created + 100us;
    const Timestamp of_history = std::chrono::floor<std::chrono::milliseconds>(run_after);

    EXPECT_EQ(planned_start(retried_at(run_after)), planned_start(retried_at(of_history)));
}

}  // namespace job_json_test
}  // namespace sluice::http::native
