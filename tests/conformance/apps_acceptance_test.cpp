// Seed 000, section 10: each criterion has a test that bears its name.
#include <signal.h>

#include <fstream>
#include <map>
#include <mutex>

#include "conformance/apps.hpp"

namespace sluice::e2e {
namespace apps_acceptance_test {

class AppsAcceptance : public AppsTest {
  protected:
    std::string in(const Json& environment, const std::string& action) const {
        return path("/environments/" + text(environment, "id") + action);
    }

    // The job that a call has enqueued waits; no worker has claimed it.
    void expect_waiting(const std::string& id, const std::string& type) {
        const Json waiting = job(id);
        EXPECT_EQ(text(waiting, "job_type"), type);
        EXPECT_EQ(text(waiting, "state"), "queued");
        EXPECT_TRUE(is_null(waiting, "started_at"));
    }

    std::string profile_of(const std::string& id) {
        return text(at(job(id), "payload"), "runtime_profile_id");
    }
};

// 1
TEST_F(AppsAcceptance, AsyncExecution) {
    const Json changeset = submitted();
    EXPECT_EQ(text(changeset, "state"), "submitted");
    expect_waiting(text(changeset, "job_id"), "msuite_submit");
    expect_ok(worker.cancel(text(changeset, "job_id")));

    const Json release = assembling();
    expect_waiting(text(release, "job_id"), "release_assemble");
    succeed("release_assemble");
    const std::string merge = text(author.read(release_path(release)), "job_id");
    expect_waiting(merge, "msuite_merge");
    const Json other = queued("def456");
    succeed("msuite_merge");
    manager.act(release_path(release, "publish"));
    expect_waiting(text(author.read(changeset_path(other)), "job_id"),
                   "revalidate_queued_changeset");

    const Json production = environment();
    const Json deployment = deploy(production, release);
    expect_waiting(text(deployment, "check_job_id"), "msuite_deploy");
    expect_waiting(text(deployment, "job_id"), "deploy_release");
    const Json check = at(expect_ok(manager.post(in(production, "/drift-check")), 202), "data");
    expect_waiting(text(check, "job_id"), "runtime_profile_drift_check");

    const Json temp = author.create(path("/temp-envs"));
    expect_waiting(text(temp, "job_id"), "temp_env_provision");
    succeed("temp_env_provision");
    const Json ending = author.act(path("/temp-envs/" + text(temp, "id") + "/expire"));
    expect_waiting(text(ending, "job_id"), "temp_env_expire");
}

// 2
TEST_F(AppsAcceptance, StateTracking) {
    const std::string succeeded = enqueue("msuite_submit");
    const std::string failed = enqueue("msuite_submit", {{"max_attempts", 1}});
    const std::string hung = enqueue("msuite_submit", {{"timeout_ms", 50}});
    for (const std::string& id : {succeeded, failed, hung}) EXPECT_EQ(job_state(id), "queued");

    const Json first = claim("msuite_submit");
    EXPECT_EQ(job_state(succeeded), "running");
    expect_ok(worker.succeed(first));
    const Json second = claim("msuite_submit");
    EXPECT_EQ(job_state(failed), "running");
    expect_ok(worker.fail(second));
    claim("msuite_submit");

    EXPECT_EQ(job_state(succeeded), "succeeded");
    EXPECT_EQ(job_state(failed), "failed");
    EXPECT_TRUE(eventually([&] { return job_state(hung) == "canceled"; }));
}

// 3
TEST_F(AppsAcceptance, GateEnforcement) {
    const auto required = [&](const Response& response, const std::string& type) {
        const std::string message = expect_error(response, 409, "conflict");
        EXPECT_NE(message.find("required " + type + " job has not succeeded"), std::string::npos)
            << message;
    };
    const Json changeset = submitted();
    required(reviewer.post(changeset_path(changeset, "review"), {{"decision", "approve"}}),
             "msuite_submit");
    succeed("msuite_submit");
    reviewer.act(changeset_path(changeset, "review"), {{"decision", "approve"}});
    manager.act(changeset_path(changeset, "queue"));
    succeed("msuite_merge");

    const Json release = manager.create(path("/releases"));
    manager.act(release_path(release, "assemble"));
    succeed("release_assemble");
    required(manager.post(release_path(release, "publish")), "msuite_merge");
    succeed("msuite_merge");
    manager.act(release_path(release, "publish"));

    const Json production = environment();
    deploy(production, release);
    required(manager.post(in(production, "/deploy"), {{"release_id", at(release, "id")}}),
             "msuite_deploy");
    EXPECT_FALSE(is_claimable("deploy_release"));
    succeed("msuite_deploy");
    EXPECT_TRUE(is_claimable("deploy_release"));
}

// 4
TEST_F(AppsAcceptance, PollableStatus) {
    const std::string good = enqueue("msuite_submit");
    EXPECT_EQ(job_state(good), "queued");
    const Json lease = claim("msuite_submit");
    EXPECT_EQ(job_state(good), "running");
    expect_ok(worker.report(lease, {{"outcome", "succeeded"}, {"result", {{"passed", true}}}}));
    const std::string bad = enqueue("msuite_submit");
    fail("msuite_submit");

    EXPECT_EQ(at(author.read(path("/jobs/" + good)), "result"), Json(Fields{{"passed", true}}));
    EXPECT_EQ(text(author.read(path("/jobs/" + bad)), "error_message"),
              "msuite_submit found a problem");
}

// 5
TEST_F(AppsAcceptance, StructuredLogs) {
    const std::string id = enqueue("msuite_submit");
    const std::string logs = path("/jobs/" + id + "/logs");
    const Json lease = claim("msuite_submit");

    expect_ok(worker.log(lease, List{Fields{{"message", "suite started"}}}));
    EXPECT_EQ(author.total(logs), 1);  // while it runs
    expect_ok(worker.log(lease, List{Fields{{"level", "error"},
                                            {"message", "a test failed"},
                                            {"data", {{"test", "prices"}}}}}));

    const List lines = author.list_of(logs);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(text(lines[0], "message"), "suite started");
    EXPECT_EQ(text(lines[1], "level"), "error");
    EXPECT_EQ(at(lines[1], "data"), Json(Fields{{"test", "prices"}}));
}

// 6
TEST_F(AppsAcceptance, RetryResilience) {
    const std::string transient = enqueue("msuite_submit");
    for (int i = 0; i < 3; ++i) fail("msuite_submit", true);
    succeed("msuite_submit");
    const std::string permanent = enqueue("msuite_submit");
    for (int i = 0; i < 4; ++i) fail("msuite_submit", true);

    EXPECT_EQ(job_state(transient), "succeeded");
    EXPECT_EQ(number(job(transient), "retry_count"), 3);
    EXPECT_EQ(job_state(permanent), "failed");
    EXPECT_EQ(text(job(permanent), "error_message"), "msuite_submit found a problem");
}

// 7
TEST_F(AppsAcceptance, TimeoutSafety) {
    const std::string id = enqueue("deploy_release", {{"timeout_ms", 50}});
    const Json lease = claim("deploy_release");

    ASSERT_TRUE(eventually([&] { return job_state(id) == "canceled"; }));

    EXPECT_EQ(text(job(id), "error_message"), "timeout exceeded");
    const Response late = worker.succeed(lease);
    EXPECT_NE(late.status, 200) << late.body;
    EXPECT_EQ(job_state(id), "canceled");
}

// 8
TEST_F(AppsAcceptance, NoDoubleProcessing) {
    worker.submit_batch(
        std::vector<Fields>(200, Fields{{"type", "msuite_submit"}, {"project", app}}));
    std::mutex mutex;
    std::map<std::string, int> runs;

    in_parallel(8, [&](int i) {
        Api runner(engine->port(), "default");
        for (;;) {
            const List leases =
                runner.claim({{"worker_id", "runner-" + std::to_string(i)}, {"limit", 3}});
            if (leases.empty()) return;
            for (const Json& lease : leases) {
                const std::lock_guard lock(mutex);
                ++runs[job_of(lease)];
                expect_ok(runner.succeed(lease));
            }
        }
    });

    EXPECT_EQ(runs.size(), 200u);
    for (const auto& [id, count] : runs) EXPECT_EQ(count, 1) << id;
    EXPECT_EQ(author.total(path("/jobs?state=succeeded")), 200);
}

// 9
TEST_F(AppsAcceptance, CleanShutdown) {
    const TempFolder other;
    const std::string store = "sqlite:" + (other.path() / "db").string();
    const std::string config = (other.path() / "sluice.toml").string();
    std::ofstream(config) << "[job_types.msuite_submit.executor]\nkind = \"msuite\"\n"
                             "simulate = {delay = \"700ms\"}\n[runner]\nconcurrency = 1\n";
    auto runner = std::make_unique<Engine>(store, std::vector<std::string>{"--config", config});
    AppsApi client(runner->port());
    const std::string jobs = "/" + text(client.create(""), "id") + "/jobs";
    Api submitter(runner->port(), "default");
    const Fields wanted{{"type", "msuite_submit"},
                        {"project", jobs.substr(1, 24)},
                        {"payload", {{"changeset_id", "c"}}}};
    const std::string in_flight = submitter.submit_id(wanted);
    const std::string waiting = submitter.submit_id(wanted);
    // Its first line shows that it runs; a job that was only claimed is given back.
    ASSERT_TRUE(eventually([&] { return client.total(jobs + "/" + in_flight + "/logs") > 0; }));

    EXPECT_EQ(runner->stop(), 0);

    runner = std::make_unique<Engine>(store);
    AppsApi after(runner->port());
    EXPECT_EQ(text(after.read(jobs + "/" + in_flight), "state"), "succeeded");
    EXPECT_EQ(text(after.read(jobs + "/" + waiting), "state"), "queued");
    EXPECT_EQ(number(after.read(jobs + "/" + waiting), "retry_count"), 0);
}

// 10: on PostgreSQL the runners also talk to two engines, which share nothing but the database.
TEST_F(AppsAcceptance, HorizontalScalability) {
    std::unique_ptr<Engine> second;
    if (on_postgres()) {
        second = std::make_unique<Engine>("sqlite:" + (folder.path() / "db").string());
    }
    std::vector<std::string> ids;
    for (int i = 0; i < 100; ++i) ids.push_back(enqueue("msuite_submit"));

    in_parallel(6, [&](int i) {
        Api runner(second && i % 2 == 1 ? second->port() : engine->port(), "default");
        for (;;) {
            const List leases =
                runner.claim({{"worker_id", "runner-" + std::to_string(i)}, {"wait_ms", 300}});
            if (leases.empty()) return;
            for (const Json& lease : leases) expect_ok(runner.succeed(lease));
        }
    });

    for (const std::string& id : ids) {
        EXPECT_EQ(worker.steps(id),
                  (std::vector<std::string>{"submitted", "claimed", "succeeded"}));
    }
}

// 11
TEST_F(AppsAcceptance, ProfileAwareGateDefaults) {
    const std::string temp = text(profile("temp_changeset"), "id");
    const std::string blue = text(profile("persistent_env", {{"name", "blue"}}), "id");
    const std::string green = text(profile("persistent_env", {{"name", "green"}}), "id");

    const Json changeset = submitted();
    EXPECT_EQ(list(changeset, "job_ids").size(), 1u);
    EXPECT_EQ(profile_of(text(changeset, "job_id")), temp);
    succeed("msuite_submit");
    reviewer.act(changeset_path(changeset, "review"), {{"decision", "approve"}});
    manager.act(changeset_path(changeset, "queue"));
    EXPECT_EQ(profile_of(succeed("msuite_merge")), temp);

    const Json release = manager.create(path("/releases"));
    manager.act(release_path(release, "assemble"));
    succeed("release_assemble");
    std::vector<std::string> merged{profile_of(succeed("msuite_merge"))};
    expect_error(manager.post(release_path(release, "publish")), 409, "conflict");
    merged.push_back(profile_of(succeed("msuite_merge")));
    EXPECT_FALSE(is_claimable("msuite_merge"));
    std::sort(merged.begin(), merged.end());
    EXPECT_EQ(merged, (std::vector{blue, green}));
    manager.act(release_path(release, "publish"));

    const Json deployment = deploy(environment({{"runtime_profile_id", green}}), release);
    EXPECT_EQ(profile_of(text(deployment, "check_job_id")), green);
    succeed("msuite_deploy");
    claim("deploy_release");
    const std::string deployed = path("/deployments/" + text(deployment, "id"));
    EXPECT_EQ(text(author.read(deployed), "state"), "running");
}

// 11: "Gate configuration supports": the app chooses otherwise.
TEST_F(AppsAcceptance, GateDefaultsCanBeConfiguredByTheApp) {
    profile("temp_changeset");
    const std::string persistent = text(profile("persistent_env"), "id");
    expect_ok(admin.patch(path(), {{"gates", {{"submit", "environments"}}}}));

    const Json changeset = submitted();

    EXPECT_EQ(profile_of(text(changeset, "job_id")), persistent);
    succeed("msuite_submit");
    EXPECT_EQ(reviewer.post(changeset_path(changeset, "review"), {{"decision", "approve"}}).status,
              200);
}

// 12
TEST_F(AppsAcceptance, MigrationExecutionMetadataIsPersisted) {
    const Json release = published();
    const Json production = environment();
    deploy(production, release);
    succeed("msuite_deploy");
    const std::string job_id =
        succeed("deploy_release",
                {{"migrations", List{Fields{{"id", "0001_users"}, {"status", "applied"}}}}});
    const std::string store = "sqlite:" + (folder.path() / "db").string();

    ASSERT_EQ(engine->stop(), 0);
    engine = std::make_unique<Engine>(store);
    AppsApi after(engine->port(), "ada");

    const List kept = after.list_of(in(production, "/migrations"));
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_EQ(text(kept[0], "migration_id"), "0001_users");
    EXPECT_EQ(text(kept[0], "status"), "applied");
    EXPECT_EQ(text(kept[0], "job_id"), job_id);
    EXPECT_FALSE(flag(after.read(in(production, "/drift")), "drifted"));
}

}  // namespace apps_acceptance_test
}  // namespace sluice::e2e
