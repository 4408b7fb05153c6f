// Seed 000, "msuite workers" and the runner of section 6: jobs that the engine runs itself.
#include "conformance/apps.hpp"

namespace sluice::e2e {
namespace apps_workers_test {

std::string executor(const std::string& type, const std::string& settings) {
    return "[job_types." + type + "]\nmax_attempts = 1\n[job_types." + type +
           ".executor]\nkind = \"msuite\"\n" + settings + "\n";
}

// Simulated checks: submit passes, merge does not. The real check of deploy is a command that
// answers with its input. A type that the runner takes, but that is unknown, has no worker.
std::string workers_config() {
    return executor("msuite_submit", "simulate = {}") +
           executor("msuite_merge", "simulate = {pass = false, failures = [\"prices\"]}") +
           executor("msuite_deploy", R"(command = ["/bin/sh", "-c", '''
printf '{"passed":true,"job":"%s","type":"%s","app":"%s","entity":"%s %s","payload":%s}' \
  "$SLUICE_JOB_ID" "$SLUICE_JOB_TYPE" "$SLUICE_APP_ID" "$SLUICE_ENTITY_TYPE" "$SLUICE_ENTITY_ID" \
  "$SLUICE_PAYLOAD" >&3'''])") +
           "[runner]\ntypes = [\"msuite_submit\", \"msuite_merge\", \"msuite_deploy\", "
           "\"temp_env_expire\"]\n";
}

class AppsWorkers : public AppsTest {
  protected:
    AppsWorkers() : AppsTest(workers_config()) {}

    Json ended(const std::string& id) {
        EXPECT_TRUE(eventually([&] { return !is_null(job(id), "completed_at"); }, Millis(20'000)));
        return job(id);
    }
};

TEST_F(AppsWorkers, MsuiteSubmitWorkerSimulatesSuccess) {
    const Json changeset = submitted();

    const Json passed = ended(text(changeset, "job_id"));

    EXPECT_EQ(text(passed, "state"), "succeeded");
    EXPECT_EQ(at(passed, "result"),
              Json(Fields{
                  {"passed", true}, {"test_count", 0}, {"failures", List{}}, {"simulated", true}}));
    const List lines = author.list_of(path("/jobs/" + text(passed, "id") + "/logs"));
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(text(lines[0], "message"), "starting msuite submit validation");
    EXPECT_EQ(text(lines[1], "message"),
              "running validation for changeset " + text(changeset, "id"));
    EXPECT_EQ(at(lines[1], "data"), Json(Fields{{"changeset_id", at(changeset, "id")}}));
    EXPECT_EQ(text(lines[2], "message"), "msuite submit validation complete");
    EXPECT_EQ(at(lines[2], "data"), at(passed, "result"));
}

TEST_F(AppsWorkers, MsuiteWorkersMissTheirIdInThePayload) {
    const Json failed = ended(enqueue("msuite_submit"));

    EXPECT_EQ(text(failed, "state"), "failed");
    EXPECT_EQ(text(failed, "error_message"), "missing changeset_id in payload");
}

TEST_F(AppsWorkers, MsuiteWorkersCanBeConfiguredToFail) {
    const Json failed = ended(enqueue("msuite_merge", {{"payload", {{"release_id", "r-1"}}}}));

    EXPECT_EQ(text(failed, "state"), "failed");
    EXPECT_EQ(text(failed, "error_message"), "msuite merge did not pass for release r-1: prices");
}

TEST_F(AppsWorkers, RealMsuiteWorkerIsACommandWithTheJobInItsEnvironment) {
    const Fields payload{{"deployment_id", "d-1"}};
    const std::string id =
        enqueue("msuite_deploy",
                {{"entity_type", "deployment"}, {"entity_id", "d-1"}, {"payload", payload}});

    const Json result = at(ended(id), "result");

    EXPECT_EQ(text(result, "job"), id);
    EXPECT_EQ(text(result, "type"), "msuite_deploy");
    EXPECT_EQ(text(result, "app"), app);
    EXPECT_EQ(text(result, "entity"), "deployment d-1");
    EXPECT_EQ(at(result, "payload"), Json(payload));
}

TEST_F(AppsWorkers, JobWithoutARegisteredWorkerFails) {
    const Json failed = ended(enqueue("temp_env_expire", {{"max_attempts", 1}}));

    EXPECT_EQ(text(failed, "state"), "failed");
    EXPECT_EQ(text(failed, "error_message"), "no worker registered for job type temp_env_expire");
}

}  // namespace apps_workers_test
}  // namespace sluice::e2e
