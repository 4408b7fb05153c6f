#include "contract/store_contract.hpp"

// LeaseStore::take and the keys that it holds: which claim gets which jobs, in which order.
namespace sluice {
namespace take_contract {

JobSpec with_keys(std::int64_t id, std::vector<std::string> keys) {
    JobSpec made = spec(id);
    made.exclusive_keys = std::move(keys);
    return made;
}

JobSpec with_priority(std::int64_t id, int priority) {
    JobSpec made = spec(id);
    made.priority = priority;
    return made;
}

JobSpec of_lane(std::int64_t id, const Lane& lane) {
    JobSpec made = spec(id, lane.type);
    made.tenant = lane.tenant;
    made.queue = lane.queue;
    made.labels = lane.labels;
    return made;
}

// ── order ──

TEST_P(StoreContract, TakeGivesHigherPriorityFirstThenOlder) {
    put(with_priority(1, 0));
    put(with_priority(3, 5));
    put(with_priority(4, -5));
    put(with_priority(2, 5));
    put(of_lane(5, {"default", "other", "another"}));

    EXPECT_EQ(claimable(at(0)), (Ids{{2}, {3}, {1}, {5}, {4}}));
}

TEST_P(StoreContract, TakeForAnyTenantKeepsTheSameOrder) {
    put(of_lane(1, {"acme", "q", "a"}));
    put(of_lane(2, {"default", "q", "a"}));
    put(of_lane(3, {"zeta", "other", "a"}));
    put(of_lane(4, {"acme", "q", "b"}));

    const ClaimFilter filter{.tenant = "", .any_tenant = true, .types = {"a"}};
    EXPECT_EQ(claimable(at(0), 10, filter), (Ids{{1}, {2}, {3}}));
}

TEST_P(StoreContract, TakeGivesNoMoreThanTheLimit) {
    for (const std::int64_t id : {1, 2, 3}) put(spec(id));

    EXPECT_EQ(claimable(at(0), 2), (Ids{{1}, {2}}));
    EXPECT_EQ(claimable(at(0), 0), Ids{});
}

TEST_P(StoreContract, TakeServesTheFiltersInTurnAndGivesNoJobTwice) {
    for (const std::int64_t id : {1, 2, 3}) put(spec(id));
    put(spec(4, "other"));
    const ClaimFilter any;
    const ClaimFilter other{.types = {"other"}};
    const std::vector<LeaseStore::Wanted> wanted = {{&any, 2}, {&other, 5}, {&any, 5}, {&any, 1}};

    roll_back([&](Session& session) {
        const auto taken = session.leases().take(wanted, at(0));
        ASSERT_EQ(taken.size(), 4u);
        EXPECT_EQ(ids_of(taken[0]), (Ids{{1}, {2}}));
        EXPECT_EQ(ids_of(taken[1]), (Ids{{4}}));
        EXPECT_EQ(ids_of(taken[2]), (Ids{{3}}));
        EXPECT_EQ(ids_of(taken[3]), Ids{});
    });
}

TEST_P(StoreContract, TakeGivesWholeJobs) {
    JobSpec made = unusual_spec(2, JobId{1});
    made.run_after = at(0);
    const Job job = put(made);

    roll_back([&](Session& session) {
        const ClaimFilter filter{.tenant = made.tenant,
                                 .queues = {made.queue},
                                 .types = {made.type},
                                 .labels = made.labels};
        EXPECT_EQ(take(session, filter, 1, at(0)), std::vector<Job>{job});
    });
}

TEST_P(StoreContract, TakeGivesARequeuedJobWithWhatItsAttemptLeft) {
    Job job = put_running(spec(1));
    job.now.error_code = "E";
    job.now.log_seq = 3;
    job = requeue(requeued(job, at(1)));

    roll_back(
        [&](Session& session) { EXPECT_EQ(take(session, {}, 1, at(1)), std::vector<Job>{job}); });
}

TEST_P(StoreContract, TakeTakesJobsOutOfTheQueue) {
    put_running(spec(1));

    EXPECT_EQ(claimable(at(0)), Ids{});
}

TEST_P(StoreContract, TakeSeesWhatItsSessionPut) {
    const Arrival arrival{queued(spec(1)), false};

    roll_back([&](Session& session) {
        session.jobs().put({&arrival, 1});
        EXPECT_EQ(ids_of(take(session, {}, 1, at(0))), Ids{{1}});
    });
}

// ── filters ──

TEST_P(StoreContract, TakeGivesJobsOfTheFiltersTenantOnly) {
    put(of_lane(1, {"default", "default", "work"}));
    put(of_lane(2, {"acme", "default", "work"}));

    EXPECT_EQ(claimable(at(0)), Ids{{1}});
    EXPECT_EQ(claimable(at(0), 9, {.tenant = "acme"}), Ids{{2}});
    EXPECT_EQ(claimable(at(0), 9, {.tenant = "nobody"}), Ids{});
}

TEST_P(StoreContract, TakeGivesJobsOfTheQueuesAndTypesThatTheFilterNames) {
    put(of_lane(1, {"default", "q1", "t1"}));
    put(of_lane(2, {"default", "q1", "t2"}));
    put(of_lane(3, {"default", "q2", "t1"}));
    put(of_lane(4, {"default", "q3", "t3"}));

    EXPECT_EQ(claimable(at(0), 9, {.queues = {"q1"}}), (Ids{{1}, {2}}));
    EXPECT_EQ(claimable(at(0), 9, {.queues = {"q1", "q2"}}), (Ids{{1}, {2}, {3}}));
    EXPECT_EQ(claimable(at(0), 9, {.types = {"t1", "t3"}}), (Ids{{1}, {3}, {4}}));
    EXPECT_EQ(claimable(at(0), 9, {.queues = {"q2"}, .types = {"t1"}}), (Ids{{3}}));
    EXPECT_EQ(claimable(at(0), 9, {.queues = {"q3"}, .types = {"t1"}}), Ids{});
}

TEST_P(StoreContract, TakeGivesAJobOnlyToAWorkerThatHasAllOfItsLabels) {
    put(of_lane(1, {"default", "default", "work", {}}));
    put(of_lane(2, {"default", "default", "work", {"gpu"}}));
    put(of_lane(3, {"default", "default", "work", {"eu", "gpu"}}));

    EXPECT_EQ(claimable(at(0)), Ids{{1}});
    EXPECT_EQ(claimable(at(0), 9, {.labels = {"gpu"}}), (Ids{{1}, {2}}));
    EXPECT_EQ(claimable(at(0), 9, {.labels = {"eu", "gpu", "x"}}), (Ids{{1}, {2}, {3}}));
}

// ── keys ──

TEST_P(StoreContract, TakePassesOverAJobWhileAnotherHoldsOneOfItsKeys) {
    const Job first = put_running(with_keys(1, {"a", "b"}));
    put(with_keys(2, {"b", "c"}));
    put(with_keys(3, {"c"}));

    EXPECT_EQ(claimable(at(0)), Ids{{3}});

    finish(ended(first, JobState::succeeded, at(1)));
    EXPECT_EQ(claimable(at(1)), Ids{{2}});
}

TEST_P(StoreContract, TakeHoldsTheKeysOfAJobFromTheMomentItIsTaken) {
    put(with_keys(1, {"k"}));
    put(with_keys(2, {"k"}));
    put(spec(3));

    roll_back([&](Session& session) {
        EXPECT_EQ(ids_of(take(session, {}, 9, at(0))), (Ids{{1}, {3}}));
        EXPECT_EQ(ids_of(take(session, {}, 9, at(0))), Ids{});
        const std::string key = "key=k";
        EXPECT_EQ(session.leases().holders("default", {&key, 1}).front(), JobId{1});
    });
}

TEST_P(StoreContract, TakeHoldsTheSiteAndTheNodeOfAJobToo) {
    JobSpec first = spec(1);
    first.site_id = "s";
    first.node_id = "n";
    JobSpec same_site = spec(2);
    same_site.site_id = "s";
    JobSpec same_node = spec(3);
    same_node.node_id = "n";
    put_running(first);
    put(same_site);
    put(same_node);
    put(with_keys(4, {"s", "n"}));

    EXPECT_EQ(claimable(at(0)), Ids{{4}});
}

TEST_P(StoreContract, TakeKeepsTheKeysOfTenantsApart) {
    JobSpec others = with_keys(2, {"k"});
    others.tenant = "acme";
    put_running(with_keys(1, {"k"}));
    put(others);

    EXPECT_EQ(claimable(at(0), 9, {.tenant = "acme"}), Ids{{2}});
}

TEST_P(StoreContract, KeysAreHeldUntilTheLeaseIsClosedNotUntilTheJobEnds) {
    const Job job = put_running(with_keys(1, {"k"}));
    put(with_keys(2, {"k"}));

    const Job canceled = finish(ended_under_worker(job, JobState::canceled, at(1)));
    EXPECT_EQ(claimable(at(1)), Ids{});

    close(canceled);
    EXPECT_EQ(claimable(at(1)), Ids{{2}});
}

TEST_P(StoreContract, AJobThatEndsInTheSessionThatTookItLetsTheNextOneHaveItsKeyAtOnce) {
    for (const std::int64_t id : {1, 2, 3}) put(with_keys(id, {"k"}));

    commit([&](Session& session) {
        for (const std::int64_t id : {1, 2}) {
            std::vector<Job> taken = take(session, {}, 9, at(0));
            ASSERT_EQ(ids_of(taken), Ids{{id}});
            const Job job = running(taken.at(0), {.token = 1000 + id});
            session.leases().open({&job, 1});
            const Job over = ended(job, JobState::failed, at(0));
            session.jobs().finish({&over, 1});
        }
    });

    EXPECT_EQ(claimable(at(0)), Ids{{3}});
}

TEST_P(StoreContract, AFreedKeyGoesToTheBestOfThoseThatWaitForIt) {
    JobSpec urgent = with_keys(4, {"k"});
    urgent.priority = 1;
    Job holding = put_running(with_keys(1, {"k"}));
    put(with_keys(3, {"k"}));
    put(with_keys(2, {"k"}));
    ASSERT_EQ(claimable(at(0)), Ids{});
    put(urgent);

    Ids order;
    for (int i = 0; i < 3; ++i) {
        finish(ended(holding, JobState::succeeded, at(1)));
        holding = commit([&](Session& session) {
            const std::vector<Job> taken = take(session, {}, 9, at(1));
            EXPECT_EQ(taken.size(), 1u);
            Job job = running(taken.at(0), {.token = 2000 + i});
            session.leases().open({&job, 1});
            return job;
        });
        order.push_back(holding.spec->id);
    }

    EXPECT_EQ(order, (Ids{{4}, {2}, {3}}));
}

TEST_P(StoreContract, HoldersAreThoseWhoHoldEachKeyOfTheTenantIfAnybody) {
    put_running(with_keys(1, {"a", unusual_text}));
    put(with_keys(2, {"b"}));

    commit([&](Session& session) {
        const std::vector<std::string> keys = {"key=b", "key=a", "key=" + unusual_text, "a"};
        const auto holders = session.leases().holders("default", keys);
        EXPECT_EQ(holders, (std::vector<std::optional<JobId>>{{}, JobId{1}, JobId{1}, {}}));
        EXPECT_EQ(session.leases().holders("acme", keys),
                  (std::vector<std::optional<JobId>>(4, std::nullopt)));
        EXPECT_TRUE(session.leases().holders("default", {}).empty());
    });
}

}  // namespace take_contract
}  // namespace sluice
