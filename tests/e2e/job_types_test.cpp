// The defaults that a job gets from its type, built in or configured.
#include <fstream>

#include "e2e/api.hpp"

namespace sluice::e2e {
namespace job_types_test {

constexpr std::int64_t minute = 60'000;

ON_EACH_STORE(JobTypes);

TEST_P(JobTypes, ThatAreBuiltInHaveTheirAttemptsAndDeadlines) {
    struct Known {
        const char* type;
        int attempts;
        std::int64_t timeout_ms;
        Fields place{};
    };
    const Fields on_site{{"node_id", "n"}, {"site_id", "s"}};
    const Known known[] = {{"msuite_submit", 4, 5 * minute},
                           {"msuite_merge", 4, 5 * minute},
                           {"msuite_deploy", 3, 10 * minute},
                           {"release_assemble", 3, 10 * minute},
                           {"deploy_release", 2, 15 * minute},
                           {"temp_env_expire", 4, minute},
                           {"env_deploy", 3, 30 * minute, on_site},
                           {"node_provision", 3, 30 * minute, {{"node_id", "n"}}},
                           {"cache_purge", 3, 30 * minute, on_site},
                           {"BUILD_AND_DEPLOY", 3, 0},
                           {"something_of_my_own", 3, 30 * minute}};
    for (const Known& wanted : known) {
        Fields fields = wanted.place;
        fields["type"] = wanted.type;
        const Json job = api.submit(fields);
        EXPECT_EQ(number(job, "max_attempts"), wanted.attempts) << wanted.type;
        EXPECT_EQ(number(job, "timeout_ms"), wanted.timeout_ms) << wanted.type;
    }
}

TEST_P(JobTypes, GiveWayToWhatTheSubmitterSays) {
    const Json job =
        api.submit({{"type", "msuite_merge"}, {"max_attempts", 7}, {"timeout_ms", 1000}});

    EXPECT_EQ(number(job, "max_attempts"), 7);
    EXPECT_EQ(number(job, "timeout_ms"), 1000);
}

TEST_P(JobTypes, DecideHowLongARetryWaits) {
    api.submit({{"type", "msuite_deploy"}});
    const Json at_once = expect_ok(api.fail(api.claim_one()));
    EXPECT_EQ(text(at_once, "state"), "queued");
    EXPECT_EQ(api.claim({{"types", List{"msuite_deploy"}}}).size(), 1u);

    api.submit({{"type", "health_check"},
                {"node_id", fresh_name("node")},
                {"site_id", fresh_name("site")}});
    const Json later = expect_ok(api.report(
        api.claim_one(), {{"outcome", "failed"}, {"error_code", "E"}, {"error_message", "why"}}));
    EXPECT_EQ(text(later, "state"), "queued");
    EXPECT_EQ(api.reasons(text(later, "id")).front(), "retry_backoff");
    EXPECT_TRUE(api.claim().empty());
}

// An engine with a configuration of its own.
class ConfiguredEngine {
  public:
    explicit ConfiguredEngine(const std::string& config) {
        const std::string path = (folder_.path() / "sluice.toml").string();
        std::ofstream(path) << config;
        engine = std::make_unique<Engine>("memory:", std::vector<std::string>{"--config", path});
    }

    std::unique_ptr<Engine> engine;

  private:
    TempFolder folder_;
};

TEST(ConfiguredTypes, AreUsed) {
    const ConfiguredEngine configured(R"(
strict_types = true
[lease]
default = "7s"
[job_types.send_mail]
queue = "mail"
priority = 4
max_attempts = 5
timeout = "20s"
backoff = ["10s", "1m"]
[job_types.cache_purge]
priority = 10
backoff = "none"
)");
    Api api(configured.engine->port(), "mail");

    const Json mail = expect_ok(api.http.post("/api/v1/jobs", R"({"type":"send_mail"})"), 202);
    EXPECT_EQ(text(mail, "queue"), "mail");
    EXPECT_EQ(number(mail, "priority"), 4);
    EXPECT_EQ(number(mail, "max_attempts"), 5);
    EXPECT_EQ(number(mail, "timeout_ms"), 20'000);
    const Json purge = api.submit({{"type", "cache_purge"}, {"node_id", "n"}, {"site_id", "s"}});
    EXPECT_EQ(number(purge, "priority"), 10);
    EXPECT_EQ(number(purge, "timeout_ms"), 30 * minute) << "kept from the built-in type";
    const Response unknown = api.try_submit({{"type", "sned_mail"}});
    expect_refused(unknown, 422, "invalid", "/type");
    EXPECT_NE(unknown.body.find("sned_mail"), std::string::npos);
}

TEST(ConfiguredTypes, RepeatAnAttemptAfterItsDeadlineWhenTheyAreToldTo) {
    const ConfiguredEngine configured(R"(
[job_types.stubborn]
max_attempts = 2
timeout = "150ms"
retry_on_timeout = true
backoff = "none"
)");
    Api api(configured.engine->port(), "default");
    const std::string id = api.submit_id({{"type", "stubborn"}});
    const Json first = api.claim_one({{"lease_ms", 400}});

    EXPECT_TRUE(
        eventually([&] { return flag(expect_ok(api.heartbeat(first)), "cancel_requested"); }));
    EXPECT_EQ(api.state(id), "running") << "until the worker stops or its lease ends";
    const List second = api.claim({{"wait_ms", 5000}, {"lease_ms", 400}});
    ASSERT_EQ(second.size(), 1u) << "heartbeats do not extend a lease after the deadline";
    EXPECT_EQ(number(second[0], "attempt"), 2);
    EXPECT_TRUE(api.reaches(id, "timed_out"));
    EXPECT_EQ(text(api.job(id), "error_code"), "JOB_TIMEOUT");
}

TEST(ConfiguredTypes, KeysAreForgottenOnlyAfterTheirTime) {
    const ConfiguredEngine configured("idempotency_hours = 1\n");
    Api api(configured.engine->port(), "default");
    const Response first = api.try_submit({}, {{"Idempotency-Key", "k"}});

    EXPECT_EQ(api.try_submit({}, {{"Idempotency-Key", "k"}}).body, first.body);
}

TEST(ConfiguredTypes, TheExampleFileIsAccepted) {
    const std::string path = SLUICE_SOURCE_DIR "/docs/sluice.example.toml";
    Engine engine("memory:", {"--config", path});
    Api api(engine.port(), "default");

    const Json job = expect_ok(api.http.post("/api/v1/jobs", R"({"type":"send_mail"})"), 202);
    EXPECT_EQ(text(job, "queue"), "mail");
}

}  // namespace job_types_test
}  // namespace sluice::e2e
