#include "domain/jobs/job_type.hpp"

#include <gtest/gtest.h>

#include "application/toolkit/contract_rules.hpp"

namespace sluice {
namespace job_types_test {

using namespace std::chrono_literals;

struct Expected {
    const char* name;
    int retries;
    Duration timeout;
};

const std::vector<Expected> checked_types{
    {"msuite_submit", 3, 5min},
    {"msuite_merge", 3, 5min},
    {"msuite_deploy", 2, 10min},
    {"revalidate_queued_changeset", 3, 5min},
    {"release_assemble", 2, 10min},
    {"deploy_release", 1, 15min},
    {"runtime_profile_drift_check", 3, 5min},
    {"temp_env_provision", 2, 5min},
    {"temp_env_expire", 3, 1min},
};

const std::vector<const char*> site_types{
    "node_provision",   "site_create",      "site_import",   "env_create",    "env_deploy",
    "env_update",       "env_promote",      "env_restore",   "backup_create", "domain_add",
    "drift_check",      "health_check",     "domain_remove", "cache_purge",   "backup_cleanup",
    "release_rollback", "env_cache_toggle",
};

TEST(BuiltInTypes, RepeatChecksAndReleasesAtOnce) {
    const JobTypes types = Catalog::built_in().types;

    for (const Expected& expected : checked_types) {
        const JobType* type = types.find(expected.name);
        ASSERT_NE(type, nullptr) << expected.name;
        EXPECT_EQ(type->name, expected.name);
        EXPECT_EQ(type->max_attempts, expected.retries + 1) << expected.name;
        EXPECT_EQ(type->timeout, expected.timeout) << expected.name;
        EXPECT_EQ(type->backoff, Backoff::none()) << expected.name;
        EXPECT_FALSE(type->retry_on_timeout) << expected.name;
    }
}

TEST(BuiltInTypes, GiveSitesThreeAttemptsOfThirtyMinutes) {
    const JobTypes types = Catalog::built_in().types;

    for (const char* name : site_types) {
        const JobType* type = types.find(name);
        ASSERT_NE(type, nullptr) << name;
        EXPECT_EQ(type->name, name);
        EXPECT_EQ(type->max_attempts, 3) << name;
        EXPECT_EQ(type->timeout, 30min) << name;
        EXPECT_EQ(type->backoff, Backoff::list({1min, 5min, 15min})) << name;
        EXPECT_FALSE(type->retry_on_timeout) << name;
        EXPECT_TRUE(type->needs_node) << name;
        EXPECT_TRUE(type->admin_cancels) << name;
        EXPECT_TRUE(type->needs_error) << name;
        EXPECT_EQ(type->needs_site, std::string_view(name) != "node_provision") << name;
        EXPECT_EQ(type->refuses_site, !type->needs_site) << name;
    }
}

TEST(BuiltInTypes, LeaveTheLengthOfADeploymentToTheOperator) {
    const JobTypes types = Catalog::built_in().types;

    const JobType* type = types.find("BUILD_AND_DEPLOY");

    ASSERT_NE(type, nullptr);
    EXPECT_EQ(type->name, "BUILD_AND_DEPLOY");
    EXPECT_EQ(type->timeout, 0s);
    EXPECT_EQ(type->max_attempts, 3);
    EXPECT_EQ(type->backoff, Backoff::none());
}

TEST(BuiltInTypes, AreTheseAndNoOthers) {
    const JobTypes types = Catalog::built_in().types;

    EXPECT_EQ(types.all().size(), checked_types.size() + site_types.size() + 1);
    for (const auto& [name, type] : types.all()) {
        EXPECT_EQ(type.queue, "default") << name;
        EXPECT_EQ(type.priority, 0) << name;
    }
}

TEST(JobTypes, GiveUnknownTypesTheDefaultPolicy) {
    JobTypes types;
    JobType policy;
    policy.max_attempts = 9;
    types.set_default(policy);

    const JobType* type = types.find("anything");

    ASSERT_NE(type, nullptr);
    EXPECT_EQ(*type, policy);
    EXPECT_EQ(types.fallback(), policy);
}

TEST(JobTypes, RefuseUnknownTypesWhenAskedTo) {
    JobTypes types = Catalog::built_in().types;

    types.refuse_unknown(true);

    EXPECT_EQ(types.find("anything"), nullptr);
    EXPECT_NE(types.find("env_deploy"), nullptr);
}

TEST(JobTypes, ReplaceATypeOfTheSameName) {
    JobTypes types = Catalog::built_in().types;
    JobType changed = *types.find("env_deploy");
    changed.queue = "slow";
    const std::size_t count = types.all().size();

    types.put(changed);

    EXPECT_EQ(*types.find("env_deploy"), changed);
    EXPECT_EQ(types.all().size(), count);
}

}  // namespace job_types_test
}  // namespace sluice
