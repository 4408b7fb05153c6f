#include "domain/entities/entity_kind.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "domain/jobs/job_type.hpp"

#include "application/toolkit/contract_rules.hpp"

namespace sluice {
namespace entity_kinds_test {

const EntityKinds kinds = Catalog::built_in().kinds;

bool contains(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

TEST(BuiltInKinds, NameOnlyActionsThatTheirTablesHave) {
    for (const auto& [name, kind] : kinds.all()) {
        for (const Gate& gate : kind.gates) EXPECT_TRUE(kind.has_action(gate.action)) << name;
        for (const JobOrder& order : kind.orders)
            EXPECT_TRUE(kind.has_action(order.action)) << name;
        for (const Follow& follow : kind.follows) {
            for (const std::string& action :
                 {follow.on_start, follow.on_success, follow.on_failure}) {
                EXPECT_TRUE(action.empty() || kind.has_action(action)) << name << " " << action;
            }
            for (const auto& [outcome, action] : follow.on_outcome) {
                EXPECT_TRUE(kind.has_action(action)) << name << " " << outcome;
            }
        }
    }
}

TEST(BuiltInKinds, NameOnlyJobTypesThatAreKnown) {
    const JobTypes types = Catalog::built_in().types;
    for (const auto& [name, kind] : kinds.all()) {
        for (const Gate& gate : kind.gates)
            EXPECT_TRUE(types.all().contains(gate.job_type)) << name;
        for (const JobOrder& order : kind.orders) {
            EXPECT_TRUE(types.all().contains(order.job_type)) << name;
        }
        for (const Follow& follow : kind.follows) {
            EXPECT_TRUE(types.all().contains(follow.job_type)) << name;
        }
    }
}

TEST(BuiltInKinds, LeadFromOneStateByOneActionToOneState) {
    for (const auto& [name, kind] : kinds.all()) {
        for (const std::string& state : kind.states()) {
            for (const EntityTransition& row : kind.transitions) {
                if (!contains(row.from, state)) continue;
                EXPECT_EQ(kind.next_state(state, row.action), row.to) << name << " " << row.action;
            }
        }
    }
}

TEST(BuiltInKinds, ReachEveryState) {
    for (const auto& [name, kind] : kinds.all()) {
        std::vector<std::string> reached{kind.initial};
        for (std::size_t i = 0; i < reached.size(); ++i) {
            for (const EntityTransition& row : kind.transitions) {
                if (contains(row.from, reached[i]) && !contains(reached, row.to)) {
                    reached.push_back(row.to);
                }
            }
        }
        EXPECT_EQ(reached.size(), kind.states().size()) << name;
    }
}

// On random paths of an entity: whenever it can take the action, may_still() was true before.
TEST(AnActionThatMayStillCome, IsNamedAsSuchOnEveryWayToIt) {
    for (const auto& [name, kind] : kinds.all()) {
        for (const EntityTransition& wanted : kind.transitions) {
            for (const std::string& state : kind.states()) {
                bool leads_there = kind.next_state(state, wanted.action).has_value();
                for (const EntityTransition& step : kind.transitions) {
                    const auto next = kind.next_state(state, step.action);
                    leads_there = leads_there || (next && kind.may_still(*next, wanted.action));
                }
                EXPECT_EQ(kind.may_still(state, wanted.action), leads_there)
                    << name << " " << state << " " << wanted.action;
            }
        }
    }
}

TEST(AnActionThatMayStillCome, IsNoneOfAnEndOrOfAnotherKind) {
    const EntityKind& changeset = *kinds.find("changeset");
    EXPECT_TRUE(changeset.may_still("draft", "queue"));
    EXPECT_TRUE(changeset.may_still("queued", "queue")) << "it can go back";
    EXPECT_FALSE(changeset.may_still("released", "queue"));
    EXPECT_FALSE(changeset.may_still("draft", "fly"));
}

TEST(ASite, LeavesFailedByAResetOnly) {
    const EntityKind& site = *kinds.find("site");
    for (const EntityTransition& row : site.transitions) {
        EXPECT_EQ(contains(row.from, "failed"), row.action == "reset") << row.action;
    }
    EXPECT_EQ(site.next_state("failed", "reset"), "active");
}

struct InProgress {
    const char* type;
    const char* state;
};

class SiteJobs : public testing::TestWithParam<InProgress> {};

TEST_P(SiteJobs, PutTheSiteIntoTheStateOfTheirType) {
    const auto& [type, state] = GetParam();
    JobSpec spec;
    spec.type = type;
    spec.site_id = "s1";
    spec.node_id = "n1";
    const auto followed = kinds.followed_by(spec);
    if (std::string_view(state).empty()) {
        EXPECT_TRUE(followed.empty());
        return;
    }
    ASSERT_EQ(followed.size(), 1U);
    EXPECT_EQ(followed[0].key, (EntityKey{"default", "site", "s1"}));
    EXPECT_EQ(followed[0].kind->next_state("active", followed[0].follow->on_start), state);
}

INSTANTIATE_TEST_SUITE_P(
    Types, SiteJobs,
    testing::Values(InProgress{"env_create", "cloning"}, InProgress{"site_create", "deploying"},
                    InProgress{"site_import", "deploying"}, InProgress{"env_deploy", "deploying"},
                    InProgress{"env_update", "deploying"}, InProgress{"env_promote", "deploying"},
                    InProgress{"release_rollback", "deploying"},
                    InProgress{"domain_add", "deploying"}, InProgress{"domain_remove", "deploying"},
                    InProgress{"cache_purge", "deploying"},
                    InProgress{"env_cache_toggle", "deploying"},
                    InProgress{"env_restore", "restoring"}, InProgress{"node_provision", ""},
                    InProgress{"backup_create", ""}, InProgress{"backup_cleanup", ""},
                    InProgress{"drift_check", ""}, InProgress{"health_check", ""}),
    [](const auto& tested) { return std::string(tested.param.type); });

TEST(FollowedBy, NamesSiteAndEnvironmentOfOneJobOnceEach) {
    JobSpec spec;
    spec.tenant = "acme";
    spec.type = "env_deploy";
    spec.site_id = "s1";
    spec.entity_type = "environment";
    spec.entity_id = "e1";

    const auto followed = kinds.followed_by(spec);

    ASSERT_EQ(followed.size(), 2U);
    EXPECT_EQ(followed[0].key, (EntityKey{"acme", "site", "s1"}));
    EXPECT_EQ(followed[1].key, (EntityKey{"acme", "environment", "e1"}));

    spec.entity_type = "site";
    spec.entity_id = "s1";
    EXPECT_EQ(kinds.followed_by(spec).size(), 1U);
}

}  // namespace entity_kinds_test
}  // namespace sluice
