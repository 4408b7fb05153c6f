#include "domain/jobs/lane.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace lane_test {

const Lane build{.tenant = "acme", .queue = "ci", .type = "build", .labels = {"gpu", "linux"}};

ClaimFilter of_acme() {
    return {.tenant = "acme", .labels = {"gpu", "linux"}};
}

TEST(LaneOf, TakesWhatAClaimCanTellJobsApartBy) {
    JobSpec spec;
    spec.tenant = "acme";
    spec.queue = "ci";
    spec.type = "build";
    spec.labels = {"gpu", "linux"};
    spec.priority = 7;
    spec.exclusive_keys = {"x"};

    EXPECT_EQ(lane_of(spec), build);
}

TEST(ClaimFilter, AcceptsAnyQueueAndTypeUnlessItNamesSome) {
    EXPECT_TRUE(of_acme().accepts(build));
}

TEST(ClaimFilter, AcceptsTheQueuesThatItNames) {
    ClaimFilter filter = of_acme();

    filter.queues = {"cd", "ci"};
    EXPECT_TRUE(filter.accepts(build));

    filter.queues = {"cd"};
    EXPECT_FALSE(filter.accepts(build));
}

TEST(ClaimFilter, AcceptsTheTypesThatItNames) {
    ClaimFilter filter = of_acme();

    filter.types = {"build", "test"};
    EXPECT_TRUE(filter.accepts(build));

    filter.types = {"buil", "builds"};
    EXPECT_FALSE(filter.accepts(build));
}

TEST(ClaimFilter, AsksForQueueAndTypeTogether) {
    ClaimFilter filter = of_acme();
    filter.queues = {"ci"};
    filter.types = {"test"};

    EXPECT_FALSE(filter.accepts(build));
}

TEST(ClaimFilter, AcceptsAJobThatAsksForFewerLabelsThanTheWorkerHas) {
    ClaimFilter filter = of_acme();

    filter.labels = {"big", "gpu", "linux"};
    EXPECT_TRUE(filter.accepts(build));

    filter.labels = {"gpu"};
    EXPECT_FALSE(filter.accepts(build));

    filter.labels = {};
    EXPECT_FALSE(filter.accepts(build));
    EXPECT_TRUE(filter.accepts({.tenant = "acme", .queue = "ci", .type = "build"}));
}

TEST(ClaimFilter, NeverCrossesTenants) {
    ClaimFilter filter = of_acme();

    filter.tenant = "other";
    EXPECT_FALSE(filter.accepts(build));

    filter.tenant = "";
    EXPECT_FALSE(filter.accepts(build));
}

TEST(ClaimFilter, TakesFromEveryTenantOnlyWhenItSaysSo) {
    ClaimFilter filter = of_acme();
    filter.tenant = "";
    filter.any_tenant = true;

    EXPECT_TRUE(filter.accepts(build));
}

TEST(LaneOrder, LooksAtEverything) {
    Lane other = build;
    other.labels = {"gpu"};

    EXPECT_NE(other, build);
    EXPECT_LT((Lane{.tenant = "a", .queue = "z", .type = "z"}),
              (Lane{.tenant = "b", .queue = "a", .type = "a"}));
}

}  // namespace lane_test
}  // namespace sluice
