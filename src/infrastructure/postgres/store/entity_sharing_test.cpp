// Two committers of one database, as on two nodes: no change of an entity is lost.
#include <gtest/gtest.h>

#include <barrier>
#include <future>
#include <thread>

#include "application/entities/entity_changes.hpp"
#include "support/builders.hpp"
#include "support/test_database.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace entity_sharing_test {

using namespace std::chrono_literals;

Entity site(std::int64_t number, const std::string& id) {
    return {.key = {"default", "site", id},
            .number = number,
            .parent = "",
            .state = "draft",
            .revision = 1,
            .created_at = at(1),
            .updated_at = at(1),
            .attributes = {}};
}

class PostgresEntitySharing : public testing::Test {
  protected:
    static TestDatabase& database() {
        static TestDatabase shared;
        return shared;
    }

    static void put(Session& session, const Entity& entity) {
        session.entities().put({&entity, 1});
    }

    void put(const Entity& entity) {
        const auto session = one->begin();
        put(*session, entity);
        session->commit();
    }

    Entity find(const EntityKey& key) { return one->reader()->entities().find_one(key).value(); }

    // Runs it again when it loses against another session, as the engine does.
    static std::int64_t count_up(Store& store, const EntityKey& key) {
        for (;;) {
            try {
                const auto session = store.begin();
                session->reserve({.entities = {key}});
                Entity entity = session->entities().find_one(key).value();
                ++entity.revision;
                put(*session, entity);
                session->commit();
                return entity.revision;
            } catch (const StoreConflict&) {
            }
        }
    }

    std::unique_ptr<Store> one = database().open_empty();
    std::unique_ptr<Store> two = database().open();
};

TEST_F(PostgresEntitySharing, TheSecondOfTwoSessionsThatAddAnEntityHasAConflict) {
    const Entity first = site(1, "a");
    const Entity second = site(2, "a");
    const auto faster = one->begin();
    const auto slower = two->begin();
    EXPECT_FALSE(faster->entities().find_one(first.key));
    EXPECT_FALSE(slower->entities().find_one(second.key));
    put(*faster, first);
    put(*slower, second);
    faster->commit();

    EXPECT_THROW(slower->commit(), StoreConflict);

    EXPECT_EQ(find(first.key), first);
    EXPECT_EQ(one->reader()->entities().count({}), 1);
}

TEST_F(PostgresEntitySharing, AConflictTakesTheRestOfTheSessionWithIt) {
    const auto slower = two->begin();
    EXPECT_FALSE(slower->entities().find_one(site(2, "a").key));
    put(site(1, "a"));
    const Arrival arrival{queued(spec(3)), false};
    slower->jobs().put({&arrival, 1});
    put(*slower, site(2, "a"));
    put(*slower, site(4, "b"));

    EXPECT_THROW(slower->commit(), StoreConflict);

    EXPECT_EQ(one->reader()->count({}), 0);
    EXPECT_EQ(one->reader()->entities().count({}), 1);
}

TEST_F(PostgresEntitySharing, WhatASessionHasFoundIsNotChangedByAnotherUntilItEnds) {
    Entity entity = site(1, "a");
    put(entity);
    auto holder = one->begin();
    EXPECT_TRUE(holder->entities().find_one(entity.key));

    auto other = std::async(std::launch::async, [&] { return count_up(*two, entity.key); });
    EXPECT_EQ(other.wait_for(200ms), std::future_status::timeout);
    EXPECT_EQ(find(entity.key), entity);
    entity.revision = 10;
    put(*holder, entity);
    holder->commit();

    EXPECT_EQ(other.get(), 11) << "it has seen the change";
    EXPECT_EQ(find(entity.key).revision, 11);
}

TEST_F(PostgresEntitySharing, WhatASessionHasListedOthersMayChange) {
    const Entity entity = site(1, "a");
    put(entity);
    const auto session = one->begin();
    EXPECT_EQ(session->reader().entities().list({}, newest_entity, 0, 10).size(), 1u);

    EXPECT_EQ(count_up(*two, entity.key), 2);

    EXPECT_EQ(session->entities().find_one(entity.key)->revision, 2);
}

TEST_F(PostgresEntitySharing, NoChangeIsLostAmongManySessions) {
    const Entity a = site(1, "a");
    const Entity b = site(2, "b");
    put(a);
    put(b);
    constexpr int rounds = 10;
    // In turn, so that each of them often has locked an entity that the other one asks for.
    const auto work = [&](Store& store, bool backwards) {
        for (int i = 0; i < rounds; ++i) {
            std::vector<EntityKey> late;
            for (bool done = false; !done;) {
                try {
                    const auto session = store.begin();
                    session->reserve({.entities = late});
                    for (const EntityKey& key :
                         backwards ? std::array{b.key, a.key} : std::array{a.key, b.key}) {
                        Entity entity = session->entities().find_one(key).value();
                        ++entity.revision;
                        put(*session, entity);
                    }
                    session->commit();
                    done = true;
                } catch (const EntitiesBusy& busy) {
                    late.insert(late.end(), busy.keys().begin(), busy.keys().end());
                }
            }
        }
    };

    std::thread backwards([&] { work(*two, true); });
    work(*one, false);
    backwards.join();

    EXPECT_EQ(find(a.key).revision, 1 + 2 * rounds);
    EXPECT_EQ(find(b.key).revision, 1 + 2 * rounds);
}

// Deployments and the ends of deployments once did so: one session had locked the release and asked
// for the profile, the other had locked the profile and asked for the release.
TEST_F(PostgresEntitySharing, ASessionDoesNotWaitForWhatItDidNotReserve) {
    const Entity profile = site(1, "profile");
    const Entity release = site(2, "release");
    put(profile);
    put(release);
    auto deploying = one->begin();
    const auto ending = two->begin();
    deploying->reserve({.entities = {release.key}});
    ending->reserve({.entities = {profile.key}});

    try {
        deploying->entities().find_one(profile.key);
        FAIL() << "the other session has it";
    } catch (const EntitiesBusy& busy) {
        EXPECT_EQ(busy.keys(), std::vector{profile.key});
    }
    deploying.reset();  // PostgreSQL sends an error before it gives up the locks

    EXPECT_TRUE(ending->entities().find_one(profile.key));
    EXPECT_TRUE(ending->entities().find_one(release.key)) << "the refused session released it";
}

TEST_F(PostgresEntitySharing, WhatNoOtherSessionHasNeedNotBeReserved) {
    const Entity entity = site(1, "a");
    put(entity);
    const auto session = one->begin();
    session->reserve({.entities = {site(2, "b").key}});

    EXPECT_EQ(session->entities().find_one(entity.key), entity);
    EXPECT_FALSE(session->entities().find_one(site(2, "b").key));

    EXPECT_THROW(two->begin()->entities().find_one(entity.key), EntitiesBusy) << "it is kept";
}

TEST_F(PostgresEntitySharing, ReportsReserveTheEntitiesOfTheirJobs) {
    const Entity entity = site(1, "a");
    put(entity);
    const Arrival arrival{queued(spec(7)), false};
    {
        const auto session = one->begin();
        session->jobs().put({&arrival, 1});
        session->commit();
    }
    const auto session = one->begin();
    Subjects subjects{.jobs = {JobId{7}}, .ending = {JobId{7}}};
    subjects.entities_of = [&](const JobSpec& job, std::vector<EntityKey>& keys) {
        EXPECT_EQ(job.id, JobId{7});
        keys.push_back(entity.key);
    };
    session->reserve(subjects);

    EXPECT_THROW(two->begin()->entities().find_one(entity.key), EntitiesBusy);
}

// Each session asks for the other's entity while it has its own: both are decided again, with both
// entities reserved.
TEST_F(PostgresEntitySharing, EnginesThatAskInDifferentOrdersBothDecide) {
    const Entity a = site(1, "a");
    const Entity b = site(2, "b");
    put(a);
    put(b);
    std::barrier both_have_one(2);
    const auto count_up_both = [&](Store& store, const EntityKey& first, const EntityKey& second) {
        TestEngine engine(store);
        int tries = 0;
        const auto decide = [&](EntityChanges& changes) -> Result<EntityAnswer> {
            auto has = changes.find(first);
            if (++tries == 1) both_have_one.arrive_and_wait();
            auto wants = changes.find(second);
            changes.save(*has);
            changes.save(*wants);
            return EntityAnswer{};
        };
        EXPECT_TRUE(engine.ask(EntityAction{.touches = {first}, .decide = decide}));
        return tries;
    };

    auto other = std::async(std::launch::async, count_up_both, std::ref(*two), b.key, a.key);
    const int tries = count_up_both(*one, a.key, b.key);

    EXPECT_GE(tries + other.get(), 3);
    EXPECT_EQ(find(a.key).revision, 3);
    EXPECT_EQ(find(b.key).revision, 3);
}

TEST_F(PostgresEntitySharing, ReserveLocksInOneOrderWhateverOrderIsAskedFor) {
    std::vector<EntityKey> keys;
    for (const char* id : {"a", "b", "c", "d"}) {
        keys.push_back(site(1, id).key);
        put(site(std::ssize(keys), id));
    }
    const auto work = [](Store& store, const std::vector<EntityKey>& in_order) {
        for (int i = 0; i < 200; ++i) {
            const auto session = store.begin();
            session->reserve({.entities = in_order});
            EXPECT_EQ(session->entities().find(in_order).size(), 4u);
        }
    };

    std::thread backwards([&] {
        EXPECT_NO_THROW(work(*two, {keys.rbegin(), keys.rend()})) << "no deadlock";
    });
    EXPECT_NO_THROW(work(*one, keys)) << "no deadlock";
    backwards.join();
}

}  // namespace entity_sharing_test
}  // namespace sluice
