// How store copy copies entities; see import_test.cpp for the rest.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "infrastructure/postgres/maintenance/import.hpp"
#include "infrastructure/sqlite/reading/stopped_store.hpp"
#include "infrastructure/sqlite/store/sqlite_store.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/test_database.hpp"

namespace sluice::postgres {
namespace import_entities_test {

namespace fs = std::filesystem;

const std::string odd_text = std::string("\0\1z ", 4) + unusual_text;

Entity site(std::int64_t number, const std::string& id) {
    return {.key = {"default", "site", id},
            .number = number,
            .parent = "shop",
            .state = "live",
            .revision = 2,
            .created_at = at(1),
            .updated_at = at(2),
            .attributes = {{"name", "\"n\""}}};
}

Entity odd_site(std::int64_t number) {
    Entity made = site(number, odd_text);
    made.key.tenant = made.key.kind = made.parent = made.state = odd_text;
    return made;
}

EntityEvent event(const Entity& entity, std::int64_t seq) {
    const bool is_first = seq == 1;
    return {.key = entity.key,
            .seq = seq,
            .at = at(1),
            .action = odd_text,
            .from = is_first ? "" : "draft",
            .to = is_first ? "draft" : entity.state,
            .actor = odd_text,
            .job = is_first ? std::nullopt : std::optional(JobId{7}),
            .detail = is_first ? "" : R"({"a":1})"};
}

void put_with_events(Store& store, const std::vector<Entity>& entities) {
    const auto session = store.begin();
    session->entities().put(entities);
    for (const Entity& entity : entities) {
        session->entities().append(std::vector{event(entity, 1), event(entity, 2)});
    }
    session->commit();
}

class ImportEntitiesTest : public testing::Test {
  protected:
    ImportEntitiesTest() {
        fs::remove_all(folder);
        fs::create_directories(folder);
    }
    ~ImportEntitiesTest() override { fs::remove_all(folder); }

    void fill_source(const std::vector<Entity>& entities) const {
        SqliteStore store(path, at(0));
        put_with_events(store, entities);
    }

    Imported import() {
        sqlite::StoppedStore source(path);
        return import_store(source, {target.url()}, [](ImportStage, const Imported&) {});
    }

    const fs::path folder =
        fs::temp_directory_path() / ("sluice-import-entities-" + std::to_string(getpid()));
    const fs::path path = folder / "jobs.db";
    TestDatabase target;
};

TEST_F(ImportEntitiesTest, CopiesEntitiesAndTheirEvents) {
    std::vector<Entity> entities{odd_site(1)};
    for (int i = 2; i <= 1200; ++i) entities.push_back(site(i, std::to_string(i)));
    fill_source(entities);

    const Imported copied = import();

    EXPECT_EQ(copied.entities, 1200);
    EXPECT_EQ(copied.entity_events, 2400);
    const auto reader = target.open()->reader();
    for (const Entity& entity : {entities.front(), entities.back()}) {
        EXPECT_EQ(reader->entities().find_one(entity.key), entity);
        EXPECT_EQ(reader->entities().events(entity.key, 0, 9),
                  (std::vector{event(entity, 1), event(entity, 2)}));
    }
    EXPECT_EQ(reader->entities().count({.tenant = ""}), 1200);
}

TEST_F(ImportEntitiesTest, NoticesWhateverDiffersFromTheSource) {
    fill_source({site(1, "a"), site(2, "b")});
    const Imported copied = import();
    sqlite::StoppedStore source(path);
    Connection connection({.url = target.url()});
    const auto check_after = [&](const std::string& change) {
        connection.begin();
        connection.execute(change);
        check_import(source, connection, copied, [](const Imported&) {});
    };

    EXPECT_NO_THROW(check_after("SELECT 1"));
    connection.roll_back();
    for (const char* change :
         {"DELETE FROM entity WHERE id = 'a'", "UPDATE entity SET state = 'x' WHERE id = 'a'",
          "UPDATE entity SET attributes = '{}' WHERE id = 'a'",
          "UPDATE entity_event SET detail = 'x' WHERE id = 'a'",
          "DELETE FROM entity_event WHERE id = 'b' AND seq = 2"}) {
        EXPECT_THROW(check_after(change), std::runtime_error) << change;
        connection.roll_back();
    }
}

TEST_F(ImportEntitiesTest, RefusesASourceWithAnEntityWhoseChainIsBroken) {
    Entity broken = site(1, "a");
    broken.head = sha256("another last event");
    fill_source({broken});

    try {
        import();
        FAIL() << "was not refused";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("site a of tenant default"), std::string::npos)
            << error.what();
    }
    EXPECT_EQ(target.open()->reader()->entities().count({}), 0);
}

TEST_F(ImportEntitiesTest, RefusesATargetThatHasEntities) {
    fill_source({});
    const auto store = target.open();
    put_with_events(*store, {site(1, "a")});

    try {
        import();
        FAIL() << "was not refused";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("entities"), std::string::npos) << error.what();
    }
    EXPECT_EQ(store->reader()->entities().count({}), 1);
}

}  // namespace import_entities_test
}  // namespace sluice::postgres
