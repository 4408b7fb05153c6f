// Two committers of one database, as on two nodes: no change of an entity is lost.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "support/builders.hpp"
#include "support/test_database.hpp"

namespace sluice {
namespace {

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
    EXPECT_EQ(session->entities().list({}, newest_entity, 0, 10).size(), 1u);

    EXPECT_EQ(count_up(*two, entity.key), 2);

    EXPECT_EQ(session->entities().find_one(entity.key)->revision, 2);
}

TEST_F(PostgresEntitySharing, NoChangeIsLostAmongManySessions) {
    const Entity a = site(1, "a");
    const Entity b = site(2, "b");
    put(a);
    put(b);
    constexpr int rounds = 10;
    // In turn, so that each of them often has what the other one waits for.
    const auto work = [&](Store& store, bool backwards) {
        for (int i = 0; i < rounds; ++i) {
            for (bool done = false; !done;) {
                try {
                    const auto session = store.begin();
                    for (const EntityKey& key :
                         backwards ? std::array{b.key, a.key} : std::array{a.key, b.key}) {
                        Entity entity = session->entities().find_one(key).value();
                        ++entity.revision;
                        put(*session, entity);
                    }
                    session->commit();
                    done = true;
                } catch (const StoreConflict&) {
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

TEST_F(PostgresEntitySharing, FindLocksInOneOrderWhateverOrderIsAskedFor) {
    std::vector<EntityKey> keys;
    for (const char* id : {"a", "b", "c", "d"}) {
        keys.push_back(site(1, id).key);
        put(site(std::ssize(keys), id));
    }
    const auto work = [](Store& store, const std::vector<EntityKey>& in_order) {
        for (int i = 0; i < 200; ++i) {
            const auto session = store.begin();
            EXPECT_EQ(session->entities().find(in_order).size(), 4u);
        }
    };

    std::thread backwards([&] {
        EXPECT_NO_THROW(work(*two, {keys.rbegin(), keys.rend()})) << "no deadlock";
    });
    EXPECT_NO_THROW(work(*one, keys)) << "no deadlock";
    backwards.join();
}

}  // namespace
}  // namespace sluice
