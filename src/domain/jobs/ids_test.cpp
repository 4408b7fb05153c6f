#include "domain/jobs/ids.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sluice {
namespace ids_test {

using namespace std::chrono_literals;

const Timestamp start = from_micros(1'767'225'600'000'000);  // 2026-01-01T00:00:00Z

std::int64_t millis_of(std::int64_t id) {
    return (id >> 22) + 1'577'836'800'000;
}

TEST(JobIdText, RoundTripsWhateverASourceHandsOut) {
    IdSource ids(1023);
    Timestamp now = start;
    for (int i = 0; i < 10'000; ++i) {
        now += Duration{i * 37};
        const JobId id{ids.next(now)};

        const auto read = parse_job_id(to_text(id));

        ASSERT_EQ(read, id) << to_text(id);
    }
}

TEST(JobIdPrefix, CoversExactlyTheIdsThatBeginWithIt) {
    IdSource ids(700);
    std::vector<JobId> all;
    for (int i = 0; i < 300; ++i) all.push_back({ids.next(start + i * 37ms)});
    for (const JobId probe : {all[0], all[150], all[299]}) {
        for (std::size_t digits = 1; digits <= 24; ++digits) {
            const std::string prefix = to_text(probe).substr(0, digits);
            const auto range = ids_with_prefix(prefix);
            ASSERT_TRUE(range) << prefix;
            EXPECT_TRUE(to_text(range->first).starts_with(prefix)) << prefix;
            EXPECT_TRUE(to_text(range->last).starts_with(prefix)) << prefix;
            for (const JobId id : all) {
                EXPECT_EQ(to_text(id).starts_with(prefix), range->first <= id && id <= range->last)
                    << prefix << " " << to_text(id);
            }
        }
    }
}

TEST(JobIdPrefix, RefusesWhatNoIdBeginsWith) {
    for (const char* text : {"", "x", "AB", "6955b900ffff", "6955b900007bffff", "00", "ffffffff",
                             "6955b9000000000000000000a"}) {
        EXPECT_FALSE(ids_with_prefix(text)) << text;
    }
    EXPECT_TRUE(ids_with_prefix("6955b90003"));  // up to millisecond 999 of 0x3ff
}

TEST(JobIdText, IsAnObjectIdWhoseFirstEightDigitsAreTheSeconds) {
    IdSource ids(5);
    const JobId id{ids.next(start + 123ms)};

    const std::string text = to_text(id);

    EXPECT_EQ(text,
              "6955b900"
              "007b"
              "0005"
              "00000000");
}

TEST(JobIdText, RoundTripsTheFirstAndTheLastId) {
    const JobId first{0};
    const JobId last{INT64_MAX};

    EXPECT_EQ(to_text(first), "5e0be1000000000000000000");
    EXPECT_EQ(parse_job_id(to_text(first)), first);
    EXPECT_EQ(parse_job_id(to_text(last)), last);
}

TEST(JobIdText, SortsAsTheNumbersDo) {
    std::mt19937_64 random(7);
    std::vector<JobId> ids;
    for (int i = 0; i < 2000; ++i) ids.push_back({static_cast<std::int64_t>(random() >> 1)});

    std::sort(ids.begin(), ids.end());

    for (std::size_t i = 1; i < ids.size(); ++i) EXPECT_LT(to_text(ids[i - 1]), to_text(ids[i]));
}

TEST(JobIdText, RefusesWhatNoIdLooksLike) {
    for (const char* text : {
             "", "6955b900", "6955b900007b000500000000x", "6955b900007b00050000000",
             "6955B900007b000500000000",  // capitals: an id has one spelling
             "6955b900007b00050000000g", " 955b900007b000500000000", "-955b900007b000500000000",
             "6955b90003e8000500000000",  // 1000 milliseconds
             "6955b900007b040000000000",  // node 1024
             "6955b900007b000500001000",  // sequence 4096
             "5e0be0ff03e7000000000000",  // before 2020
             "ffffffff0000000000000000",  // after the last millisecond
         }) {
        EXPECT_EQ(parse_job_id(text), std::nullopt) << text;
    }
}

TEST(LeaseIdText, RoundTrips) {
    const LeaseId lease{JobId{123'456'789'012'345}, LeaseToken{INT64_MAX}};

    const std::string text = to_text(lease);

    EXPECT_EQ(text, to_text(lease.job) + "-7fffffffffffffff");
    EXPECT_EQ(parse_lease_id(text), lease);
}

TEST(LeaseIdText, RefusesWhatNoLeaseLooksLike) {
    const std::string job = to_text(JobId{1});
    for (const std::string& text :
         {std::string(), job, job + "-", job + "-1", job + "_0000000000000001",
          job + "-8000000000000000", job + "-000000000000000G", job + "-00000000000000001",
          "z" + job.substr(1) + "-0000000000000001"}) {
        EXPECT_EQ(parse_lease_id(text), std::nullopt) << text;
    }
}

TEST(LeaseIdOrder, IsByJobThenByToken) {
    const LeaseId early{JobId{1}, LeaseToken{9}};
    const LeaseId late{JobId{2}, LeaseToken{1}};
    const LeaseId later{JobId{2}, LeaseToken{2}};

    EXPECT_LT(early, late);
    EXPECT_LT(late, later);
}

TEST(IdSource, CarriesTheTimeAndTheNode) {
    IdSource ids(77);

    const std::int64_t id = ids.next(start + 5ms);

    EXPECT_EQ(millis_of(id), 1'767'225'600'005);
    EXPECT_EQ((id >> 12) & 1023, 77);
    EXPECT_EQ(id & 4095, 0);
}

TEST(IdSource, IncreasesUnderAClockThatStandsStill) {
    IdSource ids(3);
    std::int64_t last = 0;

    for (int i = 0; i < 20'000; ++i) {
        const std::int64_t id = ids.next(start);
        ASSERT_GT(id, last);
        last = id;
    }
}

TEST(IdSource, BorrowsFromTheNextMillisecondWhenASequenceIsUsedUp) {
    IdSource ids(3);
    for (int i = 0; i < 4096; ++i) EXPECT_EQ(millis_of(ids.next(start)), 1'767'225'600'000);

    const std::int64_t id = ids.next(start);

    EXPECT_EQ(millis_of(id), 1'767'225'600'001);
    EXPECT_EQ(id & 4095, 0);
    EXPECT_EQ((id >> 12) & 1023, 3);
}

TEST(IdSource, IncreasesUnderAClockThatGoesBack) {
    IdSource ids(3);
    std::int64_t last = ids.next(start);

    for (int i = 0; i < 1000; ++i) {
        const std::int64_t id = ids.next(start - std::chrono::seconds(i));
        ASSERT_GT(id, last);
        last = id;
    }
    EXPECT_EQ(millis_of(last), 1'767'225'600'000);
}

TEST(IdSource, FollowsTheClockAgainOnceItHasCaughtUp) {
    IdSource ids(3);
    for (int i = 0; i < 10'000; ++i) ids.next(start);

    EXPECT_EQ(millis_of(ids.next(start + 1s)), 1'767'225'601'000);
}

TEST(IdSource, IncreasesUnderAClockFromBeforeItsEpoch) {
    IdSource ids(0);

    const std::int64_t first = ids.next(from_micros(-5));
    const std::int64_t second = ids.next(from_micros(0));

    EXPECT_GT(first, 0);
    EXPECT_GT(second, first);
}

TEST(IdSource, NeverHandsOutWhatItSkippedTo) {
    IdSource other(3);
    const std::int64_t used = other.next(start + 1h);
    IdSource ids(3);

    ids.skip_to(used);

    EXPECT_GT(ids.next(start), used);
    EXPECT_GT(ids.next(start + 2h), used);
}

TEST(IdSource, NeverHandsOutLessThanItSkippedToWhenThatCameFromAHigherNode) {
    IdSource other(1023);
    const std::int64_t used = other.next(start);
    IdSource ids(0);

    ids.skip_to(used);

    EXPECT_GT(ids.next(start), used);
}

TEST(IdSource, IsNotMovedByAnOlderSkip) {
    IdSource ids(3);
    const std::int64_t first = ids.next(start);

    ids.skip_to(1);

    EXPECT_EQ(ids.next(start), first + 1);
}

TEST(JobIdHash, SpreadsNeighbours) {
    IdSource ids(0);
    std::vector<std::size_t> buckets(64);

    for (int i = 0; i < 6400; ++i) ++buckets[std::hash<JobId>{}(JobId{ids.next(start)}) >> 58];

    EXPECT_GT(*std::min_element(buckets.begin(), buckets.end()), 50u);
    EXPECT_LT(*std::max_element(buckets.begin(), buckets.end()), 200u);
}

}  // namespace ids_test
}  // namespace sluice
