#include <gtest/gtest.h>

#include "application/audit/verify_history.hpp"
#include "application/entities/entity_changes.hpp"
#include "domain/entities/entity_history.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/tampered_reader.hpp"
#include "tests/support/test_engine.hpp"

namespace sluice {
namespace verify_entity_test {

using Events = std::vector<EntityEvent>;

// A site that two jobs have moved, and an app that was changed by hand.
struct LivedEntities {
    LivedEntities() {
        create("site", "s1");
        create("app", "shop");
        change("shop");
        change("shop");
    }

    void create(const char* kind, const char* id) {
        const auto made =
            engine.ask(EntityAction{.decide = [&](EntityChanges& changes) -> Result<EntityAnswer> {
                auto entity = changes.create({.key = {"default", kind, id}});
                if (!entity) return entity.error();
                return EntityAnswer{.entity = *entity};
            }});
        ASSERT_TRUE(made) << made.error().message;
    }
    void change(const char* app) {
        const auto changed =
            engine.ask(EntityAction{.decide = [&](EntityChanges& changes) -> Result<EntityAnswer> {
                auto entity = changes.find({"default", "app", app});
                entity->attributes["name"] = "\"" + std::to_string(entity->revision) + "\"";
                changes.save(*entity, "updated", "");
                return EntityAnswer{.entity = *entity};
            }});
        ASSERT_TRUE(changed);
    }

    std::optional<Entity> find(const EntityKey& key) {
        return engine.store().reader()->entities().find_one(key);
    }
    Events events(const EntityKey& key) {
        return engine.store().reader()->entities().events(key, 0, 100);
    }

    std::string broken() {
        const Verification result = verify_history(reader);
        return result.breaks.empty() ? "" : result.breaks.front().what;
    }

    TestEngine engine;
    TamperedReader reader{engine.store()};
};

TEST(VerifyEntities, PassesWhatNobodyTouched) {
    LivedEntities lived;

    const Verification result = verify_history(lived.reader);

    EXPECT_TRUE(result.breaks.empty()) << result.breaks.front().what;
    EXPECT_EQ(result.entities, 2);
    EXPECT_EQ(result.entity_events, 4);
    EXPECT_EQ(result.partly_covered, 0);
}

TEST(VerifyEntities, FindsAnythingThatWasChangedInTheRow) {
    const std::vector<std::function<void(Entity&)>> changes{
        [](Entity& e) { e.attributes["name"] = "1"; },
        [](Entity& e) { e.attributes.clear(); },
        [](Entity& e) { e.parent = "other"; },
        [](Entity& e) { e.updated_at += std::chrono::microseconds(1); },
        [](Entity& e) { e.created_at += std::chrono::microseconds(1); },
        [](Entity& e) { ++e.number; },
        [](Entity& e) { e.seal.reset(); },
        [](Entity& e) { e.head.reset(); },
        [](Entity& e) { e.damaged = true; },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        LivedEntities lived;
        lived.reader.tampered_entities.change_entity = [&](Entity& entity) {
            if (entity.key.kind == "app") changes[i](entity);
        };
        EXPECT_NE(lived.broken(), "") << i;
    }
}

TEST(VerifyEntities, FindsAnythingThatWasChangedInAnEvent) {
    const std::vector<std::function<void(Events&)>> changes{
        [](Events& e) { e[1].actor = "eve"; },
        [](Events& e) { e[1].at += std::chrono::microseconds(1); },
        [](Events& e) { e[1].action = "removed"; },
        [](Events& e) { e[1].detail = "{}"; },
        [](Events& e) { e[1].job = JobId{7}; },
        [](Events& e) { e[1].hash.reset(); },
        [](Events& e) { e.erase(e.begin() + 1); },
        [](Events& e) { e.pop_back(); },
        [](Events& e) { std::swap(e[1].hash, e[2].hash); },
        [](Events& e) { e[1].damaged = true; },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        LivedEntities lived;
        lived.reader.tampered_entities.change_events = [&](Events& events) {
            if (events.size() == 3) changes[i](events);
        };
        EXPECT_NE(lived.broken(), "") << i;
    }
}

TEST(VerifyEntities, AcceptsEventsFromBeforeThereWereHashes) {
    LivedEntities lived;
    lived.reader.tampered_entities.change_entity = [](Entity& entity) {
        entity.head.reset();
        entity.seal.reset();
    };
    lived.reader.tampered_entities.change_events = [](Events& events) {
        for (EntityEvent& event : events) event.hash.reset();
    };

    EXPECT_EQ(lived.broken(), "");
    EXPECT_EQ(verify_history(lived.reader).partly_covered, 2);
}

// As an entity of an older version is after its first change by this version.
TEST(VerifyEntities, CountsAnEntityWhoseFirstEventsHaveNoHashAsPartlyCovered) {
    LivedEntities lived;
    const auto hash_all_but_first = [](const Entity& entity, Events& events) {
        Digest last = genesis(entity);
        for (EntityEvent& event : events) {
            event.hash.reset();
            if (event.seq > 1) event.hash = last = chain_hash(last, event);
        }
        return last;
    };
    lived.reader.tampered_entities.change_events = [&](Events& events) {
        if (events.front().key.kind != "app") return;
        hash_all_but_first(*lived.find(events.front().key), events);
    };
    lived.reader.tampered_entities.change_entity = [&](Entity& entity) {
        if (entity.key.kind != "app") return;
        Events events = lived.events(entity.key);
        entity.head = hash_all_but_first(entity, events);
        entity.seal = seal_of(entity);
    };

    EXPECT_EQ(lived.broken(), "");
    EXPECT_EQ(verify_history(lived.reader).partly_covered, 1);
}

TEST(VerifyEntities, CountsABrokenEntityNotAsPartlyCovered) {
    LivedEntities lived;
    lived.reader.tampered_entities.change_entity = [](Entity& entity) {
        entity.damaged = entity.key.kind == "site";
        if (!entity.damaged) entity.head.reset(), entity.seal.reset();
    };
    lived.reader.tampered_entities.change_events = [](Events& events) {
        for (EntityEvent& event : events) event.hash.reset();
    };

    const Verification result = verify_history(lived.reader);

    EXPECT_EQ(result.breaks.size(), 1u);
    EXPECT_EQ(result.partly_covered, 1);
}

TEST(DamagedEntity, IsNotWrittenAndWhatWantedToIsToldWhatToDo) {
    using Change = std::function<void(EntityChanges&, Entity&)>;
    const Change ways_to_write[] = {
        [](EntityChanges& changes, Entity& entity) { changes.save(entity); },
        [](EntityChanges& changes, Entity& entity) { changes.touch(entity); },
        [](EntityChanges& changes, Entity& entity) {
            EXPECT_FALSE(changes.move(entity, "deploy"));
        },
        [](EntityChanges& changes, Entity& entity) { EXPECT_TRUE(changes.act(entity, "deploy")); },
    };
    for (const Change& change : ways_to_write) {
        LivedEntities lived;
        const EntityKey site{"default", "site", "s1"};
        const auto before = lived.find(site);

        const auto answer = lived.engine.ask(
            EntityAction{.decide = [&](EntityChanges& changes) -> Result<EntityAnswer> {
                auto entity = changes.find(site);
                entity->damaged = true;
                entity->attributes["name"] = "1";
                change(changes, *entity);
                return EntityAnswer{.entity = *entity};
            }});

        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, ErrorCode::conflict);
        EXPECT_NE(answer.error().message.find("site s1 is damaged"), std::string::npos);
        EXPECT_NE(answer.error().message.find("audit verify"), std::string::npos);
        EXPECT_EQ(lived.find(site), before);
    }
}

}  // namespace verify_entity_test
}  // namespace sluice
