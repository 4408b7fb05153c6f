// Sessions of two committers that want the same jobs and entities: none waits for a job or an
// entity once it has an entity, and no job is left behind for that.
#include <gtest/gtest.h>

#include <future>

#include "support/builders.hpp"
#include "support/test_database.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace lock_order_test {

using namespace std::chrono_literals;

using Ids = std::vector<JobId>;

const EntityKey shared_site{"default", "site", "s1"};

class PostgresLockOrder : public testing::Test {
  protected:
    static TestDatabase& database() {
        static TestDatabase shared;
        return shared;
    }

    static JobSpec on_site(std::int64_t id) {
        JobSpec made = spec(id);
        made.exclusive_keys = {"the site"};
        return made;
    }

    void put(const JobSpec& spec, bool blocked = false) {
        const auto session = one->begin();
        const Arrival arrival{queued(spec), blocked};
        session->jobs().put({&arrival, 1});
        session->commit();
    }

    static std::vector<Job> take(Session& session) {
        const ClaimFilter any;
        const LeaseStore::Wanted wanted{&any, 9};
        return session.leases().take({&wanted, 1}, at(0)).front();
    }

    // Claims all jobs that can be claimed; the others are parked.
    void claim(std::int64_t token) {
        const auto session = one->begin();
        for (const Job& taken : take(*session)) {
            const Job job = running(taken, {.token = token++});
            session->leases().open({&job, 1});
        }
        session->commit();
    }

    Ids claimable() {
        Ids ids;
        for (const Job& job : take(*one->begin())) ids.push_back(job.spec->id);
        return ids;
    }

    // A session that reports the job's success, up to its commit. It has locked the site.
    std::unique_ptr<Session> report(JobId id) {
        auto session = one->begin();
        session->reserve({.leased = {id},
                          .entities = {shared_site},
                          .ending = {id},
                          .entities_of = [](const JobSpec&, std::vector<EntityKey>&) {}});
        const Job job = ended(session->jobs().find_one(id).value(), JobState::succeeded, at(1));
        session->jobs().finish({&job, 1});
        return session;
    }

    // A session that is about to cancel the job. It waits for the site, and so has not locked it
    // yet.
    std::unique_ptr<Session> begin_to_cancel(JobId id) {
        auto session = two->begin();
        session->reserve({.jobs = {id}});
        return session;
    }

    std::unique_ptr<Store> one = database().open_empty();
    std::unique_ptr<Store> two = database().open();
};

TEST_F(PostgresLockOrder, WhoFreesAKeyDoesNotWaitForAJobThatIsBeingCanceled) {
    put(on_site(1));
    put(on_site(2));
    claim(1001);
    const auto canceling = begin_to_cancel(JobId{2});

    EXPECT_NO_THROW(report(JobId{1})->commit());

    EXPECT_EQ(claimable(), Ids{}) << "the other session has it";
    canceling->commit();  // it has changed nothing
    EXPECT_EQ(claimable(), Ids{{2}}) << "and lets it forward";
}

// Neither session sees the changes of the other: one finds the key held, the other finds the job
// locked.
TEST_F(PostgresLockOrder, AJobThatWasPassedOverIsLetForwardByTheSessionThatHasIt) {
    put(on_site(1));
    put(on_site(2));
    claim(1001);
    const auto canceling = begin_to_cancel(JobId{2});
    const auto reporting = report(JobId{1});
    reporting->leases().newly_ready(at(0));  // the key is free

    auto other = std::async(std::launch::async, [&] { canceling->commit(); });
    EXPECT_EQ(other.wait_for(100ms), std::future_status::timeout) << "it waits for the key";
    reporting->commit();
    other.get();

    EXPECT_EQ(claimable(), Ids{{2}});
}

TEST_F(PostgresLockOrder, AKeyIsFreedAfterTheSessionThatHasAJobParkedThere) {
    put(on_site(1));
    put(on_site(2));
    claim(1001);
    const auto canceling = begin_to_cancel(JobId{2});
    canceling->leases().newly_ready(at(0));  // looks after the key, which is held

    auto other = std::async(std::launch::async, [&] { report(JobId{1})->commit(); });
    EXPECT_EQ(other.wait_for(100ms), std::future_status::timeout) << "it waits for the session";
    canceling->commit();
    other.get();

    EXPECT_EQ(claimable(), Ids{{2}});
}

TEST_F(PostgresLockOrder, TheNextOneIsLetForwardInThePlaceOfOneThatIsBeingCanceled) {
    for (const std::int64_t id : {1, 2, 3}) put(on_site(id));
    claim(1001);
    const auto canceling = begin_to_cancel(JobId{2});

    report(JobId{1})->commit();

    EXPECT_EQ(claimable(), Ids{{3}});
}

TEST_F(PostgresLockOrder, AJobThatWaitsForOneThatEndsIsNotWaitedFor) {
    put(spec(1));
    JobSpec waiting = spec(2);
    waiting.depends_on = {JobId{1}};
    put(waiting, true);
    claim(1001);
    const auto canceling = begin_to_cancel(JobId{2});

    try {
        report(JobId{1});
        FAIL() << "the other session has it";
    } catch (const JobsBusy& busy) {
        EXPECT_EQ(busy.jobs(), Ids{{2}});
    }
    EXPECT_NO_THROW(canceling->entities().find_one(shared_site));
    const Ids ended{{1}};
    EXPECT_THROW(one->begin()->jobs().dependents(ended), JobsBusy) << "nor when it was not said";
}

// The report waits for the job, and has locked no entity meanwhile.
TEST_F(PostgresLockOrder, AReportIsDecidedOnceTheCancelOfAWaitingJobIsOver) {
    TestEngine engine(*one);
    JobSpec first = spec("env_deploy");
    first.site_id = shared_site.id;
    const Job running = engine.start(first);
    JobSpec second = spec("env_deploy");
    second.depends_on = {running.spec->id};
    const Job waiting = engine.submit(second);
    const auto canceling = begin_to_cancel(waiting.spec->id);

    auto report =
        std::async(std::launch::async, [&] { return engine.report(running, Outcome::succeeded); });
    EXPECT_EQ(report.wait_for(100ms), std::future_status::timeout);
    EXPECT_NO_THROW(canceling->entities().find_one(shared_site));
    canceling->commit();

    EXPECT_TRUE(report.get());
    EXPECT_EQ(engine.claim_one().spec->id, waiting.spec->id);
}

using PostgresLockOrderDeathTest = PostgresLockOrder;

TEST_F(PostgresLockOrderDeathTest, ASessionThatWouldWaitForEntitiesTwiceStopsTheProcess) {
    const auto session = one->begin();
    session->reserve({.entities = {shared_site}});

    EXPECT_DEATH(session->reserve({.entities = {shared_site}}), "waits for entities once");
}

}  // namespace lock_order_test
}  // namespace sluice
