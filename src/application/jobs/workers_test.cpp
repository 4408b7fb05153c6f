#include "application/jobs/workers.hpp"

#include <gtest/gtest.h>

#include "support/builders.hpp"

namespace sluice {
namespace workers_test {

using namespace std::chrono_literals;

const Lane lane{.tenant = "default", .queue = "default", .type = "work"};

std::vector<std::string> names(const std::vector<WorkerSeen>& workers) {
    std::vector<std::string> found;
    for (const WorkerSeen& worker : workers) found.push_back(worker.worker_id);
    return found;
}

using Names = std::vector<std::string>;

TEST(Workers, AreThoseThatAskedForSuchJobs) {
    Workers workers;
    workers.claimed("any", {}, at(0));
    workers.claimed("fits", {.types = {"work"}}, at(0));
    workers.claimed("other", {.types = {"other"}}, at(0));
    workers.claimed("stranger", {.tenant = "elsewhere"}, at(0));

    EXPECT_EQ(names(workers.matching(lane, at(1))), (Names{"any", "fits"}));
}

TEST(Workers, AreListedByTenant) {
    Workers workers;
    workers.claimed("mine", {}, at(0));
    workers.claimed("stranger", {.tenant = "elsewhere"}, at(0));
    workers.claimed("everybodys", {.tenant = "", .any_tenant = true}, at(0));

    EXPECT_EQ(names(workers.of("default", at(1))), (Names{"everybodys", "mine"}));
    EXPECT_EQ(names(workers.of("", at(1))), (Names{"everybodys", "mine", "stranger"}));
    EXPECT_EQ(names(workers.of("elsewhere", at(1))), (Names{"everybodys", "stranger"}));
    EXPECT_TRUE(workers.of("", at(1000)).empty());
    EXPECT_EQ(workers.matching(lane, at(1)).size(), 2u);
}

TEST(Workers, AreRememberedForTwoMinutes) {
    Workers workers;
    workers.claimed("w", {}, at(0));

    EXPECT_EQ(workers.matching(lane, at(120) - 1us).size(), 1u);
    EXPECT_TRUE(workers.matching(lane, at(120)).empty());
}

TEST(Workers, AreRememberedForAsLongAsTheyWait) {
    Workers workers;
    workers.claimed("w", {}, at(0));
    workers.waits("w", {}, true);
    workers.forget_old(at(10'000));

    const auto found = workers.matching(lane, at(10'000));

    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].waiting);
    EXPECT_EQ(found[0].at, at(0));
}

TEST(Workers, WaitUntilTheLastOfTheirClaimsHasEnded) {
    Workers workers;
    workers.claimed("w", {}, at(0));
    workers.waits("w", {}, true);
    workers.waits("w", {}, true);

    workers.waits("w", {}, false);
    EXPECT_TRUE(workers.matching(lane, at(1)).at(0).waiting);

    workers.waits("w", {}, false);
    EXPECT_FALSE(workers.matching(lane, at(1)).at(0).waiting);
}

TEST(Workers, AreKnownByTheirLastFilter) {
    Workers workers;
    workers.claimed("w", {.types = {"other"}}, at(0));

    workers.claimed("w", {.types = {"work"}}, at(1));

    EXPECT_EQ(workers.matching(lane, at(2)).size(), 1u);
}

TEST(Workers, OfTheSameNameInTwoTenantsAreTwo) {
    Workers workers;
    workers.claimed("w", {}, at(0));
    workers.claimed("w", {.tenant = "other"}, at(0));

    EXPECT_EQ(workers.matching(lane, at(1)).size(), 1u);
    EXPECT_EQ(workers.matching({.tenant = "other", .queue = "q", .type = "t"}, at(1)).size(), 1u);
}

TEST(Workers, AreDroppedOldestFirstWhenThereAreTooMany) {
    Workers workers;
    workers.claimed("waits", {}, at(0));
    workers.waits("waits", {}, true);
    for (int i = 1; i < 2500; ++i) {
        workers.claimed("w" + std::to_string(i), {}, at(0) + i * 1ms);
    }

    const Names left = names(workers.matching(lane, at(3)));
    const auto has = [&](const std::string& name) {
        return std::find(left.begin(), left.end(), name) != left.end();
    };
    EXPECT_LE(left.size(), 2000u);
    EXPECT_GT(left.size(), 1500u);
    EXPECT_TRUE(has("waits"));
    EXPECT_TRUE(has("w2499"));
    EXPECT_TRUE(has("w1000"));
    EXPECT_FALSE(has("w1"));
}

TEST(Workers, AreForgottenOnlyWhenTheyAreOld) {
    Workers workers;
    workers.claimed("old", {}, at(0));
    workers.claimed("young", {}, at(60));

    workers.forget_old(at(120));

    EXPECT_EQ(names(workers.matching(lane, at(119))), (Names{"young"}));
}

}  // namespace workers_test
}  // namespace sluice
