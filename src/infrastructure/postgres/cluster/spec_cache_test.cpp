#include "infrastructure/postgres/cluster/spec_cache.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::postgres {
namespace spec_cache_test {

Job job_with(std::int64_t id, std::size_t payload_bytes) {
    JobSpec spec;
    spec.id = JobId{id};
    spec.payload = std::string(payload_bytes, '1');
    return accepted(std::move(spec));
}

void keep(SpecCache& cache, const Job& job) {
    cache.keep(std::span(&job, 1));
}

bool has(SpecCache& cache, std::int64_t id) {
    const JobId wanted{id};
    return cache.find(std::span(&wanted, 1)).front().has_value();
}

TEST(SpecCache, FindsWhatItKeepsInTheOrderAsked) {
    SpecCache cache;
    keep(cache, job_with(1, 10));
    keep(cache, job_with(2, 20));

    const auto found = cache.find(std::array{JobId{2}, JobId{3}, JobId{1}});

    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ((*found[0])->payload.size(), 20u);
    EXPECT_EQ(found[1], std::nullopt);
    EXPECT_EQ((*found[2])->id, JobId{1});
}

TEST(SpecCache, LeavesWhatWasFoundValidWhenItForgets) {
    SpecCache cache;
    keep(cache, job_with(1, 10));
    const auto found = cache.find(std::array{JobId{1}});

    cache.forget(std::array{JobId{1}, JobId{9}});

    EXPECT_FALSE(has(cache, 1));
    EXPECT_EQ(*(*found[0])->payload, std::string(10, '1'));
}

TEST(SpecCache, IsBoundedInJobs) {
    SpecCache cache;
    for (int id = 1; id <= 20'000; ++id) keep(cache, job_with(id, 1));

    int kept = 0;
    for (int id = 1; id <= 20'000; ++id) kept += has(cache, id);
    EXPECT_LE(kept, 8192);
    EXPECT_TRUE(has(cache, 20'000));
}

TEST(SpecCache, IsBoundedInBytes) {
    constexpr std::size_t megabyte = 1024 * 1024;
    SpecCache cache;
    for (int id = 1; id <= 40; ++id) keep(cache, job_with(id, megabyte));
    keep(cache, job_with(41, 17 * megabyte));

    int kept = 0;
    for (int id = 1; id <= 40; ++id) kept += has(cache, id);
    EXPECT_LE(kept, 16);
    EXPECT_TRUE(has(cache, 40));
    EXPECT_FALSE(has(cache, 41));
}

// A spec that was forgotten must not go on counting, or the cache would end up empty.
TEST(SpecCache, HasRoomAgainForWhatWasForgotten) {
    constexpr std::size_t megabyte = 1024 * 1024;
    SpecCache cache;
    keep(cache, job_with(1, megabyte));
    for (int id = 2; id <= 100; ++id) {
        keep(cache, job_with(id, megabyte));
        cache.forget(std::array{JobId{id}});
    }

    EXPECT_TRUE(has(cache, 1));
}

}  // namespace spec_cache_test
}  // namespace sluice::postgres
