#include "domain/entities/entity_history.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

namespace sluice {
namespace entity_history_test {

using namespace std::chrono_literals;

// A named change of one field.
template <class Subject>
struct Change {
    const char* field;
    std::function<void(Subject&)> make;
};

// No two of the hashes are the same: that of the whole subject, and those after each change.
template <class Subject, class Hash>
void expect_all_covered(const Subject& whole, const std::vector<Change<Subject>>& changes,
                        Hash hash) {
    std::set<Digest> seen{hash(whole)};
    for (const auto& change : changes) {
        Subject changed = whole;
        change.make(changed);
        EXPECT_TRUE(seen.insert(hash(changed)).second) << change.field;
    }
}

Entity full_entity() {
    return {.key = {"tenant", "site", "s1"},
            .number = 7,
            .parent = "shop",
            .state = "active",
            .revision = 3,
            .created_at = from_micros(5),
            .updated_at = from_micros(9),
            .attributes = {{"name", R"("Shop")"}, {"size", "1"}},
            .head = sha256("last event")};
}

EntityEvent full_event() {
    return {.key = {"tenant", "site", "s1"},
            .seq = 3,
            .at = from_micros(9),
            .action = "deploy",
            .from = "active",
            .to = "deploying",
            .actor = "engine",
            .job = JobId{1000},
            .detail = R"({"why":"asked"})"};
}

TEST(EntityGenesis, CoversWhatNeverChangesOfAnEntity) {
    expect_all_covered<Entity>(
        full_entity(),
        {
            {"tenant", [](Entity& e) { e.key.tenant += "x"; }},
            {"kind", [](Entity& e) { e.key.kind += "x"; }},
            {"id", [](Entity& e) { e.key.id += "x"; }},
            {"number", [](Entity& e) { ++e.number; }},
            {"created_at", [](Entity& e) { e.created_at += 1us; }},
            {"text moved between fields", [](Entity& e) { e.key.kind = "sites", e.key.id = "1"; }},
        },
        [](const Entity& entity) { return genesis(entity); });
}

TEST(EntityGenesis, IsTheSameWhateverBecameOfTheEntity) {
    Entity later = full_entity();
    later.state = "failed";
    ++later.revision;
    later.updated_at += 1us;
    later.attributes.clear();
    later.head.reset();

    EXPECT_EQ(genesis(later), genesis(full_entity()));
}

TEST(EntityChainHash, CoversEveryFieldOfTheEvent) {
    expect_all_covered<EntityEvent>(
        full_event(),
        {
            {"tenant", [](EntityEvent& e) { e.key.tenant += "x"; }},
            {"kind", [](EntityEvent& e) { e.key.kind += "x"; }},
            {"id", [](EntityEvent& e) { e.key.id += "x"; }},
            {"seq", [](EntityEvent& e) { ++e.seq; }},
            {"at", [](EntityEvent& e) { e.at += 1us; }},
            {"action", [](EntityEvent& e) { e.action += "x"; }},
            {"from", [](EntityEvent& e) { e.from += "x"; }},
            {"to", [](EntityEvent& e) { e.to += "x"; }},
            {"actor", [](EntityEvent& e) { e.actor += "x"; }},
            {"job", [](EntityEvent& e) { ++e.job->value; }},
            {"job given", [](EntityEvent& e) { e.job.reset(); }},
            {"detail", [](EntityEvent& e) { e.detail += " "; }},
            {"detail given", [](EntityEvent& e) { e.detail.clear(); }},
            {"text moved between fields",
             [](EntityEvent& e) { e.actor = "engine{", e.detail.erase(0, 1); }},
        },
        [](const EntityEvent& event) { return chain_hash(sha256("previous"), event); });
}

TEST(EntityChainHash, CoversTheHashBeforeIt) {
    EXPECT_NE(chain_hash(sha256("a"), full_event()), chain_hash(sha256("b"), full_event()));
}

TEST(Seal, CoversEveryFieldThatChanges) {
    expect_all_covered<Entity>(
        full_entity(),
        {
            {"parent", [](Entity& e) { e.parent += "x"; }},
            {"state", [](Entity& e) { e.state += "x"; }},
            {"revision", [](Entity& e) { ++e.revision; }},
            {"updated_at", [](Entity& e) { e.updated_at += 1us; }},
            {"attribute", [](Entity& e) { e.attributes["name"] = R"("Other")"; }},
            {"name of an attribute",
             [](Entity& e) {
                 e.attributes = {{"name", R"("Shop")"}, {"sizes", "1"}};
             }},
            {"one attribute more", [](Entity& e) { e.attributes["more"] = "true"; }},
            {"one attribute less", [](Entity& e) { e.attributes.erase("size"); }},
            {"attributes", [](Entity& e) { e.attributes.clear(); }},
            {"head", [](Entity& e) { e.head = sha256("another event"); }},
            {"head given", [](Entity& e) { e.head.reset(); }},
        },
        [](const Entity& entity) { return seal_of(entity); });
}

}  // namespace entity_history_test
}  // namespace sluice
