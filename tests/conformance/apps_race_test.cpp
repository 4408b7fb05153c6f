// Many callers at once around the one moment at which a gate opens.
#include <atomic>

#include "conformance/apps.hpp"

namespace sluice::e2e {
namespace apps_race_test {

constexpr int callers = 100;
constexpr int calls_each = 40;

// The answers to all calls of one race.
struct Tally {
    std::atomic<int> passed{0};
    std::atomic<int> passed_early{0};  // before the check was even reported
    std::atomic<int> refused_by_gate{0};
    std::atomic<int> refused{0};  // because another caller was faster
    std::atomic<int> other{0};
};

class AppsRaces : public AppsTest {
  protected:
    // Lets a hundred callers call until one has passed, while another one reports the check under
    // `lease` as succeeded.
    void race(const Json& lease, int success, const std::function<Response(AppsApi&)>& call,
              Tally& tally) {
        std::atomic<bool> reported = false;
        in_parallel(callers + 1, [&](int i) {
            if (i == 0) {
                Api reporter(engine->port(), "reports");
                for (int n = 0; n < 2000 && tally.refused_by_gate < callers; ++n) {
                    std::this_thread::sleep_for(Millis(5));
                }
                reported = true;
                reporter.succeed(lease);
                return;
            }
            AppsApi caller(engine->port(), "mia");
            for (int n = 0; n < calls_each || !reported; ++n) {
                const Response response = call(caller);
                if (response.status == success) {
                    ++tally.passed;
                    if (!reported) ++tally.passed_early;
                    return;
                }
                if (response.status != 409 && ++tally.other == 1) {
                    ADD_FAILURE() << response.status << " " << response.body;
                }
                const bool by_gate =
                    response.body.find("job has not succeeded") != std::string::npos;
                ++(by_gate ? tally.refused_by_gate : tally.refused);
                if (!by_gate) return;
            }
        });
    }

    static void expect_one_winner(const Tally& tally) {
        EXPECT_EQ(tally.passed, 1);
        EXPECT_EQ(tally.passed_early, 0);
        EXPECT_EQ(tally.other, 0);
        EXPECT_GE(tally.refused_by_gate, callers);
        EXPECT_GE(tally.refused, 1);
    }

    // The last change of the entity is not older than the end of the check that it had to wait for.
    void expect_after(const Json& entity, const std::string& job_id) {
        EXPECT_GE(text(entity, "updated_at"), text(job(job_id), "completed_at"));
    }
};

TEST_F(AppsRaces, AHundredQueueCallsAroundAFinishingCheckNeverPassAClosedGate) {
    const Json temp = profile("temp_changeset");
    const Json changeset = approved();
    // The profile changes after the review, so that the gate is closed again.
    const Json changed = expect_ok(manager.patch(path("/runtime-profiles/" + text(temp, "id")),
                                                 {{"env_vars", Fields{{"MODE", "strict"}}}}));
    const std::string check = enqueue(
        "msuite_submit", {{"entity_type", "changeset"},
                          {"entity_id", text(changeset, "id")},
                          {"payload", Fields{{"changeset_id", text(changeset, "id")},
                                             {"head_sha", "abc123"},
                                             {"runtime_profile_id", text(temp, "id")},
                                             {"runtime_profile_kind", "temp_changeset"},
                                             {"runtime_profile_revision",
                                              number(at(changed, "data"), "profile_revision")}}}});
    const Json lease = claim("msuite_submit");

    Tally tally;
    race(
        lease, 200,
        [&](AppsApi& caller) { return caller.post(changeset_path(changeset, "queue")); }, tally);

    expect_one_winner(tally);
    const Json after = operator_.read(changeset_path(changeset));
    EXPECT_EQ(text(after, "state"), "queued");
    expect_after(after, check);
}

TEST_F(AppsRaces, AHundredPublishCallsAroundAFinishingCheckNeverPassAClosedGate) {
    const Json release = validated();
    const Json lease = claim("msuite_merge");

    Tally tally;
    race(
        lease, 200, [&](AppsApi& caller) { return caller.post(release_path(release, "publish")); },
        tally);

    expect_one_winner(tally);
    const Json after = operator_.read(release_path(release));
    EXPECT_EQ(text(after, "state"), "published");
    expect_after(after, job_of(lease));
}

TEST_F(AppsRaces, AHundredDeployCallsMakeOneDeploymentWhichStartsAfterItsCheck) {
    const Json release = published();
    const Json target = environment();
    std::atomic<int> made = 0;
    std::atomic<int> refused = 0;
    in_parallel(callers, [&](int) {
        AppsApi caller(engine->port(), "mia");
        const Response response =
            caller.post(path("/environments/" + text(target, "id") + "/deploy"),
                        {{"release_id", text(release, "id")}});
        ++(response.status == 201 ? made : refused);
    });
    EXPECT_EQ(made, 1);
    EXPECT_EQ(refused, callers - 1);

    const Json lease = claim("msuite_deploy");
    std::atomic<bool> reported = false;
    std::atomic<int> started = 0;
    std::atomic<int> started_early = 0;
    std::atomic<int> empty_handed = 0;  // claims that found nothing
    in_parallel(21, [&](int i) {
        Api runner(engine->port(), "claims");
        if (i == 0) {
            for (int n = 0; n < 2000 && empty_handed < 40; ++n) {
                std::this_thread::sleep_for(Millis(5));
            }
            reported = true;
            runner.succeed(lease);
            return;
        }
        for (int n = 0; (n < 20 || !reported) && started == 0; ++n) {
            const Response answer = runner.http.post(
                "/api/v1/leases", R"({"worker_id":"w","types":["deploy_release"],"wait_ms":50})");
            if (list(parse(answer.body), "leases").empty()) {
                ++empty_handed;
                continue;
            }
            ++started;
            if (!reported) ++started_early;
        }
    });
    EXPECT_EQ(started, 1);
    EXPECT_EQ(started_early, 0);
    const List deployments = operator_.list_of(path("/deployments"));
    ASSERT_EQ(deployments.size(), 1U);
    EXPECT_EQ(text(deployments[0], "state"), "running");
    // The times of both jobs are not compared: on PostgreSQL a step has the time at which its batch
    // was begun, which may be some milliseconds before that of a step it had to wait for.
}

}  // namespace apps_race_test
}  // namespace sluice::e2e
