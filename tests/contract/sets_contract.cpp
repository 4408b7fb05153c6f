#include <map>

#include "contract/store_contract.hpp"

// Calls of a session's reader about many jobs or entities at once.
namespace sluice {
namespace sets_contract {

// As gates ask: by all fields of an entity's key, and by the type.
TEST_P(StoreContract, JobsOfAnEntityAreListedByType) {
    std::int64_t id = 0;
    std::map<std::string, std::vector<JobId>> made;  // by tenant, kind and type
    for (const std::string tenant : {"default", "acme"}) {
        for (const std::string kind : {"thing", "other"}) {
            for (const std::string type : {"check", "merge"}) {
                for (const bool succeeds : {true, false}) {
                    JobSpec spec = sluice::spec(++id, type);
                    spec.tenant = tenant;
                    spec.entity_type = kind;
                    spec.entity_id = "e1";
                    made[tenant + kind + type].push_back(spec.id);
                    const Job job = put_running(spec, {.token = 1000 + id});
                    if (succeeds) finish(ended(job, JobState::succeeded, at(1)));
                }
            }
        }
    }
    std::vector<JobFilter> all;
    std::vector<JobFilter> successes;
    std::vector<JobId> newest_ids;
    std::vector<JobId> newest_successes;
    const auto session = store->begin();
    for (const std::string tenant : {"default", "acme"}) {
        for (const std::string kind : {"thing", "other"}) {
            const auto& ids = made.at(tenant + kind + "check");
            all.push_back(
                {.tenant = tenant, .type = "check", .entity_type = kind, .entity_id = "e1"});
            successes.push_back(all.back());
            successes.back().states = {JobState::succeeded};
            newest_ids.push_back(ids.back());
            newest_successes.push_back(ids.front());
            EXPECT_EQ(ids_of(session->reader().list(all.back(), newest, 9)),
                      (std::vector{ids.back(), ids.front()}));
            EXPECT_EQ(ids_of(session->reader().list(successes.back(), newest, 9)),
                      std::vector{ids.front()});
        }
    }
    all.push_back({.type = "check", .entity_type = "thing", .entity_id = "e2"});

    const auto found = session->reader().newest_of(all);
    ASSERT_EQ(found.size(), 5u);
    EXPECT_FALSE(found.back());
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(found[i].value().spec->id, newest_ids[i]);
        EXPECT_EQ(session->reader().newest_of(successes)[i].value().spec->id, newest_successes[i]);
    }
}

TEST_P(StoreContract, TheEventsOfSeveralJobsAreReadInOneCall) {
    commit([&](Session& session) {
        for (const std::int64_t id : {1, 2, 3}) {
            const Arrival arrival{queued(spec(id)), false};
            session.jobs().put({&arrival, 1});
            for (const std::int64_t seq : {1, 2, 3, 4}) {
                session.history().append(std::vector<Event>{event(id, seq)});
            }
        }
    });
    const std::vector<JobReader::EventsAfter> wanted{{JobId{3}, 0}, {JobId{1}, 3}, {JobId{9}, 0}};

    const std::vector<std::vector<Event>> expected{{event(3, 1), event(3, 2)}, {event(1, 4)}, {}};
    EXPECT_EQ(store->begin()->reader().events_of(wanted, 2), expected);
    EXPECT_EQ(store->reader()->events_of(wanted, 2), expected);
}

TEST_P(StoreContract, SeveralListsOfEntitiesAreReadInOneCall) {
    std::vector<Entity> all;
    for (const std::int64_t number : {1, 2, 3, 4}) {
        Entity made{.key = {"default", "site", "s" + std::to_string(number)},
                    .number = number,
                    .parent = number % 2 == 0 ? "even" : "odd",
                    .state = "draft",
                    .revision = 1,
                    .created_at = at(1),
                    .updated_at = at(1),
                    .attributes = {}};
        all.push_back(std::move(made));
    }
    commit([&](Session& session) { session.entities().put(all); });
    const std::vector<EntityFilter> wanted{
        {.parent = "odd"}, {.parent = "none"}, {.kind = "site", .parent = "even"}};

    const std::vector<std::vector<Entity>> expected{{all[2]}, {}, {all[3]}};
    EXPECT_EQ(store->begin()->reader().entities().lists(wanted, 1), expected);
    EXPECT_EQ(store->reader()->entities().lists(wanted, 1), expected);
}

}  // namespace sets_contract
}  // namespace sluice
