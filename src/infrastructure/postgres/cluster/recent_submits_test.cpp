#include "infrastructure/postgres/cluster/recent_submits.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::postgres {
namespace recent_submits_test {

constexpr std::size_t megabyte = 1024 * 1024;

SubmittedJob job_with(std::int64_t id, std::size_t payload_bytes = 10) {
    JobSpec spec;
    spec.id = JobId{id};
    spec.payload = std::string(payload_bytes, '1');
    return {std::move(spec), Digest{}};
}

void keep(RecentSubmits& recent, const SubmittedJob& job) {
    recent.keep(std::span(&job, 1));
}

bool takes(RecentSubmits& recent, std::int64_t id) {
    return recent.take(std::array{JobId{id}}, {}).front().has_value();
}

// Claims recent jobs until most claims find their jobs here.
void claim_recent_ones(RecentSubmits& recent) {
    for (std::int64_t id = 100'000; !recent.has_most(); ++id) {
        keep(recent, job_with(id));
        takes(recent, id);
    }
}

TEST(RecentSubmits, HandsJobsOverOnceInTheOrderAsked) {
    RecentSubmits recent;
    keep(recent, job_with(1));
    keep(recent, job_with(2));
    const SubmittedJob fresh = job_with(4);

    const auto taken =
        recent.take(std::array{JobId{2}, JobId{3}, JobId{4}, JobId{1}}, std::span(&fresh, 1));

    EXPECT_EQ(taken[0]->spec->id, JobId{2});
    EXPECT_FALSE(taken[1].has_value());
    EXPECT_EQ(taken[2]->spec->id, JobId{4});
    EXPECT_EQ(taken[3]->spec->id, JobId{1});
    EXPECT_FALSE(takes(recent, 1));
}

TEST(RecentSubmits, IsBoundedInBytes) {
    RecentSubmits recent;
    for (int id = 1; id <= 17; ++id) keep(recent, job_with(id, megabyte));
    EXPECT_FALSE(takes(recent, 1));
    EXPECT_TRUE(takes(recent, 2));

    claim_recent_ones(recent);
    keep(recent, job_with(21, 17 * megabyte));
    EXPECT_FALSE(takes(recent, 21));
}

// A job that was handed over must not go on counting, or no job would be kept in the end.
TEST(RecentSubmits, HasRoomAgainForWhatWasClaimed) {
    RecentSubmits recent;
    for (int id = 1; id <= 100; ++id) {
        keep(recent, job_with(id, megabyte));
        EXPECT_TRUE(takes(recent, id)) << id;
    }
    EXPECT_TRUE(recent.has_most());
}

TEST(RecentSubmits, KeepsOnlyIdsWhileABacklogGrows) {
    RecentSubmits recent;
    EXPECT_TRUE(recent.has_most());

    for (int id = 1; id <= 10'000; ++id) keep(recent, job_with(id));
    EXPECT_FALSE(recent.has_most());
    keep(recent, job_with(10'001));
    EXPECT_FALSE(takes(recent, 10'001));

    claim_recent_ones(recent);
    keep(recent, job_with(10'002));
    EXPECT_TRUE(takes(recent, 10'002));
}

TEST(RecentSubmits, KnowsWhetherClaimsTakeWhatIsHere) {
    RecentSubmits recent;
    keep(recent, job_with(1));
    recent.take({}, {});
    EXPECT_TRUE(recent.has_most());

    recent.take(std::array{JobId{7}, JobId{8}}, {});

    EXPECT_FALSE(recent.has_most());
}

}  // namespace recent_submits_test
}  // namespace sluice::postgres
