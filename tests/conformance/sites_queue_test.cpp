// Guarantees, queueing, locking and worker identity of seed 001.
#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "conformance/sites.hpp"
#include "domain/values/time.hpp"
#include "e2e/work_process.hpp"

namespace sluice::e2e {
namespace sites_queue_test {

class SitesQueue : public SitesTest {};

TEST_F(SitesQueue, JobsThatTouchANodeMustIncludeNodeId) {
    serve();

    for (const SiteType& type : site_types()) {
        expect_refused(api().try_submit({{"type", type.name}, {"site_id", "s"}}), 422, "invalid",
                       "/node_id");
        expect_refused(api().try_submit({{"type", type.name}, {"node_id", "n"}}), 422, "invalid",
                       "/site_id");
    }
    expect_refused(api().try_submit({{"type", "node_provision"}}), 422, "invalid", "/node_id");
    expect_refused(
        api().try_submit({{"type", "node_provision"}, {"node_id", "n"}, {"site_id", "s"}}), 422,
        "invalid", "/site_id");
    EXPECT_TRUE(list(api().get("/api/v1/jobs"), "jobs").empty()) << "a refusal leaves no job";
    api().submit({{"type", "node_provision"}, {"node_id", "n"}});
}

TEST_F(SitesQueue, ABatchWithAJobWithoutItsNodeIsRefusedAsAWhole) {
    serve();

    const Response refused =
        api().try_batch({on_site("env_deploy", "a"), {{"type", "env_deploy"}, {"site_id", "b"}}});

    expect_refused(refused, 422, "invalid", "/jobs/1/node_id");
    EXPECT_TRUE(list(api().get("/api/v1/jobs"), "jobs").empty());
}

TEST_F(SitesQueue, JobsHaveThirtyMinutesAndThreeAttempts) {
    serve();

    for (const SiteType& type : site_types()) {
        const Json job = api().submit(on_site(type.name, fresh_name("site")));
        EXPECT_EQ(number(job, "timeout_ms"), 30 * 60'000) << type.name;
        EXPECT_EQ(number(job, "max_attempts"), 3) << type.name;
    }
}

TEST_F(SitesQueue, OnlyOneJobPerSiteAtATime) {
    serve();
    api().submit(on_site("env_deploy", "shop", {{"node_id", "n-1"}}));
    api().submit(on_site("health_check", "shop", {{"node_id", "n-2"}}));

    const Json first = api().claim_one({{"limit", 9}});

    EXPECT_TRUE(api().claim({{"limit", 9}}).empty());
    expect_ok(api().succeed(first));
    EXPECT_EQ(api().claim({{"limit", 9}}).size(), 1u);
}

TEST_F(SitesQueue, OnlyOneJobPerNodeAtATime) {
    serve();
    api().submit(on_site("env_deploy", "a", {{"node_id", "n-1"}}));
    api().submit(on_site("env_deploy", "b", {{"node_id", "n-1"}}));
    api().submit({{"type", "node_provision"}, {"node_id", "n-1"}});

    for (int i = 0; i < 3; ++i) {
        const Json only = api().claim_one({{"limit", 9}});
        EXPECT_TRUE(api().claim({{"limit", 9}}).empty());
        expect_ok(api().succeed(only));
    }
}

// Workers compete for jobs on few sites and nodes. Each records what it holds between claim and
// report.
TEST_F(SitesQueue, TakingALockIsAtomicAndChecksSiteAndNode) {
    serve();
    constexpr int jobs = 60;
    std::vector<Fields> wanted;
    for (int i = 0; i < jobs; ++i) {
        wanted.push_back(on_site("health_check", "site-" + std::to_string(i % 5),
                                 {{"node_id", "node-" + std::to_string(i % 3)}}));
    }
    api().submit_batch(wanted);
    std::mutex mutex;
    std::map<std::string, int> held;
    std::atomic<int> done = 0;
    std::atomic<int> overlaps = 0;

    in_parallel(6, [&](int worker) {
        Api mine(engine().port(), "default");
        while (done < jobs) {
            for (const Json& lease : mine.claim({{"worker_id", "w-" + std::to_string(worker)},
                                                 {"limit", 3},
                                                 {"wait_ms", 200}})) {
                const Json& job = at(lease, "job");
                const std::array keys{"site:" + text(job, "site_id"),
                                      "node:" + text(job, "node_id")};
                {
                    const std::lock_guard lock(mutex);
                    for (const std::string& key : keys) overlaps += held[key]++ > 0 ? 1 : 0;
                }
                mine.heartbeat(lease);
                {
                    const std::lock_guard lock(mutex);
                    for (const std::string& key : keys) --held[key];
                }
                expect_ok(mine.succeed(lease));
                ++done;
            }
        }
    });

    EXPECT_EQ(done, jobs);
    EXPECT_EQ(overlaps, 0);
}

TEST_F(SitesQueue, AWorkerTakesWhatIsQueuedAndDue) {
    serve();
    api().submit(on_site("health_check", "later", {{"delay_ms", 700}}));
    const std::string now = api().submit_id(on_site("health_check", "now"));

    const List first = api().claim({{"limit", 9}});
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(job_of(first[0]), now);

    const Json due = api().claim_one({{"wait_ms", 5000}});
    EXPECT_EQ(text(at(due, "job"), "site_id"), "later");
    EXPECT_GE(text(at(due, "job"), "started_at"), text(at(due, "job"), "run_after"));
}

TEST_F(SitesQueue, StartingAJobSetsStatusLockAndTimes) {
    serve();
    const std::string id = api().submit_id(on_site("env_deploy", "shop"));

    const Json lease = api().claim_one({{"worker_id", "host-1:4711"}});

    const Json job = api().job(id);
    EXPECT_EQ(text(job, "state"), "running");
    EXPECT_EQ(text(job, "locked_by"), "host-1:4711");
    EXPECT_EQ(text(job, "locked_at"), text(job, "started_at"));
    EXPECT_FALSE(is_null(job, "started_at"));
    expect_ok(api().succeed(lease));
    EXPECT_TRUE(is_null(api().job(id), "locked_by"));
    EXPECT_TRUE(is_null(api().job(id), "locked_at"));
}

TEST_F(SitesQueue, LockedByIsHostnameAndPid) {
    serve();
    std::array<char, 256> host{};
    ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
    const std::string id = api().submit_id(on_site("health_check", "shop"));

    WorkProcess worker(api(), "sleep 60");

    ASSERT_TRUE(api().reaches(id, "running"));
    EXPECT_EQ(text(api().job(id), "locked_by"),
              std::string(host.data()) + ":" + std::to_string(worker.process().pid()));
}

// The name of the engine's own runner includes the engine: by it a new process of that engine knows
// which jobs have died with the old one.
TEST_F(SitesQueue, LockedByOfTheEnginesOwnRunnerAlsoNamesTheEngine) {
    serve(
        "node = 7\n[job_types.health_check.executor]\nkind = \"command\"\n"
        "argv = [\"/bin/sleep\", \"60\"]\n");
    std::array<char, 256> host{};
    ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);

    const std::string id = api().submit_id(on_site("health_check", "shop"));

    ASSERT_TRUE(api().reaches(id, "running"));
    EXPECT_EQ(text(api().job(id), "locked_by"), "engine-7@" + std::string(host.data()) + ":" +
                                                    std::to_string(engine().process().pid()));
}

// At least once: a job that a worker claimed and did not finish is run again.
TEST_F(SitesQueue, AJobWhoseWorkerDiedIsRunAgain) {
    serve();
    const std::string id = api().submit_id(on_site("env_deploy", "shop", {{"backoff", "none"}}));
    api().claim_one({{"lease_ms", 1000}});

    const Json second = api().claim_one({{"wait_ms", 10'000}});

    EXPECT_EQ(job_of(second), id);
    EXPECT_EQ(number(second, "attempt"), 2);
    EXPECT_EQ(site_state("shop"), "deploying");
    expect_ok(api().succeed(second));
    EXPECT_EQ(site_state("shop"), "active");
}

}  // namespace sites_queue_test
}  // namespace sluice::e2e
