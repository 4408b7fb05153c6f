#include "contract/store_contract.hpp"

// EntityReader and EntityStore. Sessions of several stores that meet are in
// infrastructure/postgres/store/entity_sharing_test.cpp.
namespace sluice {
namespace entities_contract {

using Keys = std::vector<EntityKey>;
using Numbers = std::vector<std::int64_t>;

EntityKey key(const std::string& id, const std::string& kind = "site") {
    return {"default", kind, id};
}

// Its key is named after its number.
Entity entity(std::int64_t number, const std::string& kind = "site") {
    return {.key = key(kind + std::to_string(number), kind),
            .number = number,
            .parent = "",
            .state = "draft",
            .revision = 1,
            .created_at = at(1),
            .updated_at = at(2),
            .attributes = {}};
}

Entity unusual_entity(std::int64_t number) {
    Entity made = entity(number);
    made.key = {unusual_text, unusual_text, unusual_text};
    made.parent = unusual_text;
    made.state = unusual_text;
    made.revision = INT64_MAX;
    made.attributes = {{"list", "[1,{\"a\":null}]"}, {"name", "\"ä\\n\""}, {"rate", "0.5"}};
    return made;
}

EntityEvent event(const EntityKey& key, std::int64_t seq) {
    return {.key = key,
            .seq = seq,
            .at = at(static_cast<int>(seq)),
            .action = "publish",
            .from = "draft",
            .to = "live",
            .actor = "ada",
            .job = std::nullopt,
            .detail = ""};
}

void put_entities(Store& store, const std::vector<Entity>& entities) {
    const auto session = store.begin();
    session->entities().put(entities);
    session->commit();
}

void append_events(Store& store, const std::vector<EntityEvent>& events) {
    const auto session = store.begin();
    session->entities().append(events);
    session->commit();
}

std::optional<Entity> find_entity(Store& store, const EntityKey& key) {
    return store.reader()->entities().find_one(key);
}

std::vector<EntityEvent> events_of(Store& store, const EntityKey& key, std::int64_t after = 0,
                                   int limit = 100) {
    return store.reader()->entities().events(key, after, limit);
}

struct Part {
    std::int64_t before = newest_entity;
    std::int64_t offset = 0;
    int limit = 100;
};

Numbers list_entities(EntityReader& reader, const EntityFilter& filter, const Part& part = {}) {
    Numbers numbers;
    for (const Entity& found : reader.list(filter, part.before, part.offset, part.limit)) {
        numbers.push_back(found.number);
    }
    return numbers;
}

Numbers list_entities(Store& store, const EntityFilter& filter, const Part& part = {}) {
    return list_entities(store.reader()->entities(), filter, part);
}

std::int64_t count_entities(Store& store, const EntityFilter& filter) {
    return store.reader()->entities().count(filter);
}

// ── find ──

TEST_P(StoreContract, FindGivesTheEntitiesInTheOrderAskedForAndNothingWhereThereIsNone) {
    const Entity first = entity(1);
    const Entity second = entity(2);
    put_entities(*store, {first, second});

    const auto found = store->reader()->entities().find(
        Keys{second.key, key("nobody"), first.key, second.key, key("site1", "release")});

    ASSERT_EQ(found.size(), 5u);
    EXPECT_EQ(found[0], second);
    EXPECT_EQ(found[1], std::nullopt);
    EXPECT_EQ(found[2], first);
    EXPECT_EQ(found[3], second);
    EXPECT_EQ(found[4], std::nullopt);
    EXPECT_TRUE(store->reader()->entities().find(Keys{}).empty());
}

TEST_P(StoreContract, ASessionsFindGivesTheSameAsAReaders) {
    const Entity first = entity(1);
    const Entity second = entity(2);
    put_entities(*store, {first, second});

    const auto session = store->begin();
    const auto found =
        session->entities().find(Keys{second.key, key("nobody"), first.key, second.key});

    ASSERT_EQ(found.size(), 4u);
    EXPECT_EQ(found[0], second);
    EXPECT_EQ(found[1], std::nullopt);
    EXPECT_EQ(found[2], first);
    EXPECT_EQ(found[3], second);
    EXPECT_EQ(session->entities().find_one(first.key), first);
}

TEST_P(StoreContract, AnEntityIsKeptAsItIsWhateverItsTexts) {
    const Entity unusual = unusual_entity(1);
    put_entities(*store, {unusual});

    EXPECT_EQ(find_entity(*store, unusual.key), unusual);
    if (reopen()) {
        EXPECT_EQ(find_entity(*store, unusual.key), unusual);
    }
}

TEST_P(StoreContract, EntitiesAreToldApartByTenantKindAndId) {
    std::vector<Entity> all{entity(1), entity(2), entity(3), entity(4)};
    all[0].key = {"default", "site", "a"};
    all[1].key = {"acme", "site", "a"};
    all[2].key = {"default", "release", "a"};
    all[3].key = {"default", "site", "b"};
    put_entities(*store, all);

    for (const Entity& each : all) EXPECT_EQ(find_entity(*store, each.key), each);
}

// ── put ──

TEST_P(StoreContract, PutWritesAnEntityAnewButForItsNumberAndCreationTime) {
    const Entity first = entity(1);
    put_entities(*store, {first});
    Entity changed = unusual_entity(7);
    changed.key = first.key;
    changed.created_at = at(50);
    changed.updated_at = at(60);

    commit([&](Session& session) {
        session.entities().find_one(first.key);
        session.entities().put({&changed, 1});
    });

    changed.number = first.number;
    changed.created_at = first.created_at;
    EXPECT_EQ(find_entity(*store, first.key), changed);
    EXPECT_EQ(list_entities(*store, {}), Numbers{1});
}

TEST_P(StoreContract, PutNeedsNoFindBefore) {
    Entity changed = entity(1);
    put_entities(*store, {changed});
    changed.state = "live";

    put_entities(*store, {changed, entity(2)});

    EXPECT_EQ(find_entity(*store, changed.key), changed);
    EXPECT_EQ(list_entities(*store, {}), (Numbers{2, 1}));
}

TEST_P(StoreContract, ASessionSeesTheEntitiesThatItHasPut) {
    Entity changed = entity(1);
    put_entities(*store, {changed});
    const Entity added = entity(2);

    commit([&](Session& session) {
        EntityStore& entities = session.entities();
        EntityReader& reader = session.reader().entities();
        EXPECT_EQ(entities.find_one(added.key), std::nullopt);
        EXPECT_EQ(entities.find_one(changed.key), changed);
        changed.state = "live";
        entities.put(std::vector{changed, added});
        entities.append(std::vector{event(added.key, 1)});

        EXPECT_EQ(entities.find_one(added.key), added);
        EXPECT_EQ(entities.find_one(changed.key), changed);
        EXPECT_EQ(list_entities(reader, {.states = {"draft"}}), Numbers{2});
        EXPECT_EQ(list_entities(reader, {.states = {"live"}}), Numbers{1});
        EXPECT_EQ(reader.find_one(changed.key), changed);
        EXPECT_EQ(reader.count({}), 2);
        EXPECT_EQ(reader.events(added.key, 0, 10), std::vector{event(added.key, 1)});
        EXPECT_EQ(list_entities(reader, {}), (Numbers{2, 1}));
    });
}

TEST_P(StoreContract, ASessionMayPutAnEntitySeveralTimes) {
    Entity changed = entity(1);

    commit([&](Session& session) {
        session.entities().find_one(changed.key);
        for (std::int64_t revision = 1; revision <= 3; ++revision) {
            changed.revision = revision;
            changed.number = revision;  // the first number stays
            session.entities().put({&changed, 1});
        }
        changed.number = 1;
        EXPECT_EQ(session.entities().find_one(changed.key), changed);
    });

    EXPECT_EQ(find_entity(*store, changed.key), changed);
    EXPECT_EQ(list_entities(*store, {}), Numbers{1});
}

TEST_P(StoreContract, EntitiesOfASessionThatIsNotCommittedLeaveNothing) {
    const Entity before = entity(1);
    put_entities(*store, {before});
    append_events(*store, {event(before.key, 1)});

    roll_back([&](Session& session) {
        Entity changed = *session.entities().find_one(before.key);
        changed.state = "live";
        session.entities().put(std::vector{changed, entity(2)});
        session.entities().append(std::vector{event(before.key, 2), event(entity(2).key, 1)});
    });

    EXPECT_EQ(find_entity(*store, before.key), before);
    EXPECT_EQ(find_entity(*store, entity(2).key), std::nullopt);
    EXPECT_EQ(count_entities(*store, {}), 1);
    EXPECT_EQ(events_of(*store, before.key).size(), 1u);
    EXPECT_TRUE(events_of(*store, entity(2).key).empty());
    EXPECT_EQ(store->last_id(), 1);
    put_entities(*store, {entity(2)});
    EXPECT_EQ(list_entities(*store, {}), (Numbers{2, 1}));
}

TEST_P(StoreContract, EntitiesAndJobsAreCommittedTogether) {
    commit([&](Session& session) {
        const Arrival arrival{queued(spec(1)), false};
        session.jobs().put({&arrival, 1});
        session.entities().put(std::vector{entity(2)});
    });

    EXPECT_TRUE(find(JobId{1}));
    EXPECT_TRUE(find_entity(*store, entity(2).key));
}

TEST_P(StoreContract, AnEntitysNumberCountsInTheLastId) {
    put_entities(*store, {entity(40)});
    EXPECT_EQ(store->last_id(), 40);
    put(spec(7));
    EXPECT_EQ(store->last_id(), 40);
    // A committer that opens a shared store again is another user of it.
    if (!GetParam().is_shared && reopen()) {
        EXPECT_GE(store->last_id(), 40);
    }
}

// ── list and count ──

TEST_P(StoreContract, EntitiesAreListedNewestFirstBelowBeforeWithoutTheFirstAndUpToTheLimit) {
    put_entities(*store, {entity(3), entity(1), entity(5), entity(2), entity(4)});

    EXPECT_EQ(list_entities(*store, {}), (Numbers{5, 4, 3, 2, 1}));
    EXPECT_EQ(list_entities(*store, {}, {.limit = 2}), (Numbers{5, 4}));
    EXPECT_EQ(list_entities(*store, {}, {.before = 4, .limit = 2}), (Numbers{3, 2}));
    EXPECT_EQ(list_entities(*store, {}, {.offset = 3}), (Numbers{2, 1}));
    EXPECT_EQ(list_entities(*store, {}, {.before = 5, .offset = 1, .limit = 2}), (Numbers{3, 2}));
    EXPECT_EQ(list_entities(*store, {}, {.offset = 5}), Numbers{});
    EXPECT_EQ(list_entities(*store, {}, {.before = 1}), Numbers{});
    EXPECT_EQ(list_entities(*store, {}, {.limit = 0}), Numbers{});
}

TEST_P(StoreContract, ListGivesWholeEntities) {
    const Entity unusual = unusual_entity(1);
    put_entities(*store, {unusual});

    EXPECT_EQ(store->reader()->entities().list({.tenant = ""}, newest_entity, 0, 10),
              std::vector{unusual});
}

TEST_P(StoreContract, EntityFiltersNarrowByTenantKindParentAndStates) {
    std::vector<Entity> all{entity(1), entity(2), entity(3), entity(4), entity(5, "release")};
    all[0].key.tenant = "acme";
    all[1].parent = "shop";
    all[2].parent = "shop";
    all[2].state = "live";
    all[3].parent = "blog";
    all[3].state = "gone";
    all[4].parent = "shop";
    put_entities(*store, all);

    const std::vector<std::pair<EntityFilter, Numbers>> cases{
        {{}, {5, 4, 3, 2}},
        {{.tenant = ""}, {5, 4, 3, 2, 1}},
        {{.tenant = "acme"}, {1}},
        {{.tenant = "nobody"}, {}},
        {{.kind = "site"}, {4, 3, 2}},
        {{.tenant = "", .kind = "site"}, {4, 3, 2, 1}},
        {{.parent = "shop"}, {5, 3, 2}},
        {{.kind = "site", .parent = "shop"}, {3, 2}},
        {{.states = {"live"}}, {3}},
        {{.states = {"gone", "live"}}, {4, 3}},
        {{.kind = "site", .parent = "shop", .states = {"draft", "gone"}}, {2}},
        {{.states = {"else"}}, {}},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto& [filter, expected] = cases[i];
        EXPECT_EQ(list_entities(*store, filter), expected) << "case " << i;
        EXPECT_EQ(count_entities(*store, filter), std::ssize(expected)) << "case " << i;
        const auto session = store->begin();
        EXPECT_EQ(list_entities(session->reader().entities(), filter), expected) << "case " << i;
        EXPECT_EQ(session->reader().entities().count(filter), std::ssize(expected)) << "case " << i;
    }
}

// ── events ──

TEST_P(StoreContract, AnEntitysEventsComeInOrderAboveAfterAndUpToTheLimit) {
    const Entity about = unusual_entity(1);
    EntityEvent full = event(about.key, 2);
    full.action = full.from = full.to = full.actor = unusual_text;
    full.job = JobId{INT64_MAX};
    full.detail = "{\"a\":1}";
    EntityEvent first = event(about.key, 1);
    first.from = "";
    const EntityEvent third = event(about.key, 3);
    append_events(*store, {first, full});
    append_events(*store, {third, event(key("another"), 1)});

    EXPECT_EQ(events_of(*store, about.key), (std::vector{first, full, third}));
    EXPECT_EQ(events_of(*store, about.key, 1), (std::vector{full, third}));
    EXPECT_EQ(events_of(*store, about.key, 1, 1), std::vector{full});
    EXPECT_TRUE(events_of(*store, about.key, 3).empty());
    EXPECT_TRUE(events_of(*store, about.key, 0, 0).empty());
    EXPECT_TRUE(events_of(*store, key("nobody")).empty());
    if (reopen()) {
        EXPECT_EQ(events_of(*store, about.key), (std::vector{first, full, third}));
    }
}

}  // namespace entities_contract
}  // namespace sluice
