#include "contract/store_contract.hpp"

// JobFilter: the jobs that each field of it selects.
namespace sluice {
namespace list_contract {

// A job that differs from spec(id) in one field.
template <class Value>
JobSpec with(std::int64_t id, Value JobSpec::*field, Value value) {
    JobSpec made = spec(id);
    made.*field = std::move(value);
    return made;
}

TEST_P(StoreContract, ListWithoutNarrowingShowsEveryJobOfTheTenant) {
    put(spec(1));
    put_blocked(unusual_spec(2, JobId{1}));
    put_running(spec(3, "other"));
    finish(ended(put(spec(4)), JobState::canceled, at(1)));

    EXPECT_EQ(list({}), (Ids{{4}, {3}, {1}}));
}

TEST_P(StoreContract, ListShowsOneTenantOrAllWhenNoneIsNamed) {
    put(spec(1));
    put(with(2, &JobSpec::tenant, std::string("acme")));

    EXPECT_EQ(list({.tenant = "acme"}), Ids{{2}});
    EXPECT_EQ(list({.tenant = "default"}), Ids{{1}});
    EXPECT_EQ(list({.tenant = "nobody"}), Ids{});
    EXPECT_EQ(list({.tenant = ""}), (Ids{{2}, {1}}));
}

TEST_P(StoreContract, ListEndsWithTheJobThatReachesItsLimitOfBytes) {
    for (std::int64_t id = 1; id <= 40; ++id) {
        JobSpec large = spec(id, id % 2 == 0 ? "even" : "odd");
        large.payload = '"' + std::string(998, 'x') + '"';
        large.payload_digest = sha256(large.payload);
        put(large);
    }

    EXPECT_EQ(list({}, newest, {100, 1}), Ids{{40}});
    EXPECT_EQ(list({}, newest, {100, 2000}), (Ids{{40}, {39}}));
    EXPECT_EQ(list({}, newest, {100, 2001}), (Ids{{40}, {39}, {38}}));
    EXPECT_EQ(list({}, newest, {2, 100'000}), (Ids{{40}, {39}}));
    EXPECT_EQ(list({.type = "even"}, {39}, {100, 2000}), (Ids{{38}, {36}}));
    EXPECT_EQ(list({.type = "odd"}, newest, {100, 100'000}).size(), 20u);
    EXPECT_EQ(list({}, newest, {100, 36'000}).size(), 36u);
    EXPECT_EQ(list({}, newest, {0, 2000}), Ids{});
}

TEST_P(StoreContract, ListShowsTheStatesThatAreNamed) {
    put(spec(1, "a"));
    put_running(spec(2, "b"));
    std::int64_t id = 2;
    for (const JobState state :
         {JobState::succeeded, JobState::failed, JobState::canceled, JobState::timed_out}) {
        const Job job = put_running(spec(++id, "c"), {.token = 1000 + id});
        finish(ended(job, state, at(1)));
    }

    EXPECT_EQ(list({.states = {JobState::queued}}), Ids{{1}});
    EXPECT_EQ(list({.states = {JobState::running}}), Ids{{2}});
    EXPECT_EQ(list({.states = {JobState::succeeded}}), Ids{{3}});
    EXPECT_EQ(list({.states = {JobState::failed}}), Ids{{4}});
    EXPECT_EQ(list({.states = {JobState::canceled}}), Ids{{5}});
    EXPECT_EQ(list({.states = {JobState::timed_out}}), Ids{{6}});
    EXPECT_EQ(list({.states = {JobState::queued, JobState::failed}}), (Ids{{4}, {1}}));
}

TEST_P(StoreContract, ListShowsAnEndedJobByItsFinalStateWhileItsWorkerHasNotStopped) {
    finish(ended_under_worker(put_running(spec(1)), JobState::canceled, at(1)));

    EXPECT_EQ(list({.states = {JobState::canceled}}), Ids{{1}});
    EXPECT_EQ(list({.states = {JobState::running}}), Ids{});
}

TEST_P(StoreContract, ListShowsARequeuedJobAsQueued) {
    requeue(requeued(put_running(spec(1)), at(5)));

    EXPECT_EQ(list({.states = {JobState::queued}}), Ids{{1}});
    EXPECT_EQ(list({.states = {JobState::running}}), Ids{});
}

TEST_P(StoreContract, ListIsNarrowedByEachTextOfTheSpec) {
    put(spec(1));
    const std::vector<std::pair<std::string JobSpec::*, std::string JobFilter::*>> fields = {
        {&JobSpec::type, &JobFilter::type},
        {&JobSpec::queue, &JobFilter::queue},
        {&JobSpec::project, &JobFilter::project},
        {&JobSpec::entity_type, &JobFilter::entity_type},
        {&JobSpec::entity_id, &JobFilter::entity_id},
        {&JobSpec::site_id, &JobFilter::site_id},
        {&JobSpec::node_id, &JobFilter::node_id},
        {&JobSpec::correlation_id, &JobFilter::correlation_id},
    };
    std::int64_t id = 1;
    for (const auto& [of_spec, of_filter] : fields) put(with(++id, of_spec, unusual_text));

    id = 1;
    for (const auto& [of_spec, of_filter] : fields) {
        JobFilter filter;
        filter.*of_filter = unusual_text;
        EXPECT_EQ(list(filter), Ids{{++id}});
        filter.*of_filter = "something else";
        EXPECT_EQ(list(filter), Ids{});
    }
}

TEST_P(StoreContract, ListShowsWhatAWorkerRunsNow) {
    put(spec(1));
    put_running(spec(2, "b"), {.worker_id = "w1"});
    put_running(spec(3, "c"), {.worker_id = "w2"});
    requeue(requeued(put_running(spec(4, "d"), {.worker_id = "w1"}), at(9)));
    finish(ended(put_running(spec(5, "e"), {.worker_id = "w1"}), JobState::failed, at(1)));

    EXPECT_EQ(list({.worker_id = "w1"}), Ids{{2}});
    EXPECT_EQ(list({.worker_id = "w2"}), Ids{{3}});
    EXPECT_EQ(list({.worker_id = "w3"}), Ids{});
}

TEST_P(StoreContract, ListShowsJobsThatCarryALabel) {
    put(with(1, &JobSpec::labels, {"a", "gpu"}));
    put(with(2, &JobSpec::labels, {"g", "gp", "gpus"}));
    put(spec(3));

    EXPECT_EQ(list({.label = "gpu"}), Ids{{1}});
    EXPECT_EQ(list({.label = "gp"}), Ids{{2}});
    EXPECT_EQ(list({.label = "x"}), Ids{});
}

TEST_P(StoreContract, ListShowsJobsCreatedFromOneMomentAndBeforeAnother) {
    for (const int second : {1, 2, 3}) put(with(second, &JobSpec::created_at, at(second)));

    EXPECT_EQ(list({.created_from = at(2)}), (Ids{{3}, {2}}));
    EXPECT_EQ(list({.created_before = at(2)}), Ids{{1}});
    EXPECT_EQ(list({.created_from = at(2), .created_before = at(3)}), Ids{{2}});
}

TEST_P(StoreContract, ListShowsJobsFromAnIdOn) {
    put_running(spec(5));
    for (const std::int64_t id : {1, 2, 3, 4}) put(spec(id));

    EXPECT_EQ(list({.from = JobId{3}}), (Ids{{5}, {4}, {3}}));
    EXPECT_EQ(list({.from = JobId{3}}, JobId{4}), Ids{{3}});
    EXPECT_EQ(list({.states = {JobState::running}, .from = JobId{6}}), Ids{});
}

TEST_P(StoreContract, ListShowsReplaysOfAJob) {
    put(spec(1));
    put(with(2, &JobSpec::replay_of, std::optional(JobId{1})));
    put(with(3, &JobSpec::replay_of, std::optional(JobId{2})));

    EXPECT_EQ(list({.replay_of = JobId{1}}), Ids{{2}});
    EXPECT_EQ(list({.replay_of = JobId{3}}), Ids{});
}

TEST_P(StoreContract, ListShowsOnlyWhatEveryPartOfTheFilterAccepts) {
    put_running(spec(1, "a"));
    put(spec(2, "a"));
    put(spec(3, "b"));

    EXPECT_EQ(list({.states = {JobState::queued}, .type = "a"}), Ids{{2}});
    EXPECT_EQ(list({.states = {JobState::running}, .type = "b"}), Ids{});
}

TEST_P(StoreContract, ListPagesThroughWhatTheFilterAccepts) {
    for (std::int64_t id = 1; id <= 60; ++id) put(spec(id, id % 3 == 0 ? "wanted" : "other"));

    Ids all;
    JobId before = newest;
    for (Ids page = list({.type = "wanted"}, before, 7); !page.empty();
         page = list({.type = "wanted"}, before, 7)) {
        all.insert(all.end(), page.begin(), page.end());
        before = page.back();
    }

    ASSERT_EQ(all.size(), 20u);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].value, 60 - 3 * static_cast<std::int64_t>(i));
    }
}

// ── pages and counts ──

TEST_P(StoreContract, APageGivesWhatTheFilterAcceptsFromTheNewestWithoutTheFirst) {
    for (std::int64_t id = 1; id <= 60; ++id) put(spec(id, id % 3 == 0 ? "wanted" : "other"));
    const auto page = [&](std::int64_t offset, int limit) {
        return ids_of(store->reader()->page({.type = "wanted"}, offset, limit));
    };

    EXPECT_EQ(page(0, 3), (Ids{{60}, {57}, {54}}));
    EXPECT_EQ(page(3, 2), (Ids{{51}, {48}}));
    EXPECT_EQ(page(18, 10), (Ids{{6}, {3}}));
    EXPECT_EQ(page(20, 10), Ids{});
    EXPECT_EQ(page(0, 0), Ids{});
    EXPECT_EQ(store->reader()->count({.type = "wanted"}), 20);
    EXPECT_EQ(store->reader()->count({.type = "nobody's"}), 0);
}

TEST_P(StoreContract, PagesAndCountsFollowEveryPartOfTheFilter) {
    put(with(1, &JobSpec::labels, {"gpu"}));
    put(with(2, &JobSpec::labels, {"a3:gpu"}));  // contains the stored form of the other one
    put_running(with(3, &JobSpec::type, std::string("running")), {.worker_id = "w1"});
    put_running(with(4, &JobSpec::type, std::string("held")), {.token = 1004, .worker_id = "w2"});
    finish(ended_under_worker(*find(JobId{4}), JobState::canceled, at(1)));
    finish(ended(put(with(5, &JobSpec::project, std::string("shop"))), JobState::canceled, at(1)));
    finish(ended(put_running(with(6, &JobSpec::type, std::string("done")), {.token = 1006}),
                 JobState::succeeded, at(1)));
    requeue(requeued(put_running(with(7, &JobSpec::type, std::string("back")), {.token = 1007}),
                     at(5)));
    put(with(8, &JobSpec::tenant, std::string("acme")));
    put(with(9, &JobSpec::project, std::string("shop")));
    JobSpec about = with(10, &JobSpec::project, std::string("shop"));
    about.entity_type = "site";
    about.entity_id = "e";
    put(about);

    const std::vector<JobFilter> filters{
        {},
        {.tenant = ""},
        {.tenant = "acme"},
        {.tenant = "acme", .project = "shop"},
        {.states = {JobState::queued}},
        {.states = {JobState::running}},
        {.states = {JobState::queued, JobState::running}},
        {.states = {JobState::canceled}},
        {.states = {JobState::succeeded, JobState::canceled}},
        {.states = {JobState::queued, JobState::canceled}},
        {.project = "shop"},
        {.states = {JobState::queued}, .project = "shop"},
        {.states = {JobState::canceled}, .project = "shop"},
        {.states = {JobState::canceled, JobState::succeeded}, .project = "shop"},
        {.project = "shop", .entity_type = "site", .entity_id = "e"},
        {.states = {JobState::running}, .entity_id = "e"},
        {.worker_id = "w1"},
        {.worker_id = "w2"},
        {.states = {JobState::running}, .worker_id = "w2"},
        {.label = "gpu"},
        {.created_from = at(0), .from = JobId{3}},
    };
    for (std::size_t i = 0; i < filters.size(); ++i) {
        const JobFilter& filter = filters[i];
        const Ids all = list(filter);
        const auto reader = store->reader();
        EXPECT_EQ(reader->count(filter), std::ssize(all)) << "filter " << i;
        EXPECT_EQ(ids_of(reader->page(filter, 0, 100)), all) << "filter " << i;
        const Ids rest(all.begin() + std::min<std::ptrdiff_t>(1, std::ssize(all)), all.end());
        EXPECT_EQ(ids_of(reader->page(filter, 1, 100)), rest) << "filter " << i;
    }
}

// Jobs of two types in two projects and in none, one in each state.
TEST_P(StoreContract, SuccessesOfAnEntityAreListedByType) {
    std::int64_t id = 0;
    std::vector<JobId> expected;
    for (const std::string project : {"shop", ""}) {
        for (const std::string entity : {"e1", "e2"}) {
            for (const JobState end : {JobState::succeeded, JobState::failed}) {
                JobSpec spec = sluice::spec(++id, "check");
                spec.project = project;
                spec.entity_type = "thing";
                spec.entity_id = entity;
                finish(ended(put_running(spec, {.token = 1000 + id}), end, at(1)));
                if (entity == "e1" && end == JobState::succeeded) expected.push_back(spec.id);
            }
        }
    }
    JobSpec canceled = spec(++id, "check");
    canceled.entity_id = "e1";
    finish(
        ended_under_worker(put_running(canceled, {.token = 1000 + id}), JobState::canceled, at(1)));
    std::reverse(expected.begin(), expected.end());
    const JobFilter filter{.states = {JobState::succeeded}, .type = "check", .entity_id = "e1"};
    JobFilter of_shop = filter;
    of_shop.project = "shop";
    JobFilter of_other_kind = filter;
    of_other_kind.entity_type = "other";
    const auto reader = store->reader();

    EXPECT_EQ(ids_of(reader->list(filter, newest, 10)), expected);
    EXPECT_EQ(ids_of(reader->list(filter, expected.front(), 10)), std::vector{expected.back()});
    EXPECT_EQ(ids_of(reader->page(filter, 1, 10)), std::vector{expected.back()});
    EXPECT_EQ(reader->count(filter), 2);
    EXPECT_EQ(ids_of(reader->list(of_shop, newest, 10)), std::vector{expected.back()});
    EXPECT_TRUE(reader->list(of_other_kind, newest, 10).empty());
    JobFilter of_kind = filter;
    of_kind.entity_type = "thing";
    EXPECT_EQ(ids_of(reader->list(of_kind, newest, 10)), expected);
    EXPECT_EQ(ids_of(reader->page(of_kind, 1, 10)), std::vector{expected.back()});
    EXPECT_EQ(reader->count(of_kind), 2);
}

TEST_P(StoreContract, JobsOfAProjectAreListedByTypeAndState) {
    std::vector<Job> made;
    std::int64_t id = 0;
    for (const std::string project : {"shop", "blog", ""}) {
        for (const std::string type : {"check", "merge"}) {
            const auto next = [&] {
                JobSpec spec = with(++id, &JobSpec::type, type);
                spec.project = project;
                spec.queue = "queue " + std::to_string(id);
                return spec;
            };
            const auto run = [&] {
                const JobSpec spec = next();
                return put_running(spec, {.token = 1000 + id});
            };
            put(next());
            run();
            requeue(requeued(run(), at(5)));
            finish(ended_under_worker(run(), JobState::canceled, at(1)));
            finish(ended(put(next()), JobState::canceled, at(1)));
            for (const JobState end :
                 {JobState::succeeded, JobState::failed, JobState::canceled, JobState::timed_out}) {
                finish(ended(run(), end, at(1)));
            }
        }
    }
    for (std::int64_t i = id; i > 0; --i) made.push_back(*find(JobId{i}));

    using enum JobState;
    for (const std::vector<JobState>& states :
         std::vector<std::vector<JobState>>{{},
                                            {queued},
                                            {running},
                                            {succeeded},
                                            {failed},
                                            {canceled, timed_out},
                                            {queued, running},
                                            {timed_out, canceled, failed, succeeded},
                                            {queued, failed}}) {
        for (const std::string project : {"shop", "blog", "other"}) {
            for (const std::string type : {"check", "merge", "other"}) {
                for (const std::string tenant : {"default", "acme", ""}) {
                    const JobFilter filter{
                        .tenant = tenant, .states = states, .type = type, .project = project};
                    Ids expected;
                    for (const Job& job : made) {
                        if (filter.accepts(job)) expected.push_back(job.spec->id);
                    }
                    const auto reader = store->reader();
                    EXPECT_EQ(list(filter), expected);
                    EXPECT_EQ(ids_of(reader->page(filter, 0, 100)), expected);
                    EXPECT_EQ(reader->count(filter), std::ssize(expected));
                    if (expected.empty()) continue;
                    EXPECT_EQ(
                        ids_of(reader->list(filter, expected.front(), 1)),
                        Ids(expected.begin() + 1,
                            expected.begin() + std::min<std::ptrdiff_t>(2, std::ssize(expected))));
                }
            }
        }
    }
}

TEST_P(StoreContract, APageGivesWholeJobs) {
    const Job job = put_running(spec(1));

    EXPECT_EQ(store->reader()->page({}, 0, 10), std::vector<Job>{job});
}

TEST_P(StoreContract, ListsPagesAndCountsOfASessionShowTheJobsThatItHasPut) {
    put(spec(1));
    commit([&](Session& session) {
        const Arrival arrival{queued(with(2, &JobSpec::project, std::string("shop"))), false};
        session.jobs().put({&arrival, 1});

        EXPECT_EQ(ids_of(session.reader().list({}, newest, 10)), (Ids{{2}, {1}}));
        EXPECT_EQ(ids_of(session.reader().list({.states = {JobState::queued}, .project = "shop"},
                                               newest, 10)),
                  Ids{{2}});
        EXPECT_EQ(ids_of(session.reader().page({}, 1, 10)), Ids{{1}});
        EXPECT_EQ(session.reader().count({}), 2);
    });
}

}  // namespace list_contract
}  // namespace sluice
