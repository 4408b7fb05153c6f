// The command line, and the engine's messages about itself.
#include <fstream>

#include "e2e/api.hpp"

namespace sluice::e2e {
namespace command_line_test {

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(CommandLine, RefusesNoAuthOffLoopback) {
    for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:0"}) {
        const Ended ended =
            run_sluice({"serve", "--no-auth", "--listen", address, "--store", "memory:"});
        EXPECT_EQ(ended.code, 1) << address;
        EXPECT_TRUE(has(ended.errors, "loopback")) << ended.errors;
    }
}

TEST(CommandLine, RefusesStoresItDoesNotKnow) {
    for (const char* url : {"redis:", "mysql://x/y", "sqlite:", "memory", "file.db"}) {
        const Ended ended =
            run_sluice({"serve", "--no-auth", "--listen", "127.0.0.1:0", "--store", url});
        EXPECT_EQ(ended.code, 1) << url;
        EXPECT_TRUE(has(ended.errors, url)) << ended.errors;
        EXPECT_TRUE(has(ended.errors, "sqlite:PATH")) << ended.errors;
    }
}

TEST(CommandLine, ExitsWithTwoWhenItIsUsedWrongly) {
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                      {"srve"},
                                                      {"serve", "--colour"},
                                                      {"audit"},
                                                      {"serve", "x"},
                                                      {"serve", "--store"}}) {
        EXPECT_EQ(run_sluice(arguments).code, 2);
    }
}

TEST(CommandLine, RefusesBadAddressesAndTakenPorts) {
    for (const char* address : {"nonsense", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:x"}) {
        const Ended ended =
            run_sluice({"serve", "--no-auth", "--listen", address, "--store", "memory:"});
        EXPECT_EQ(ended.code, 1) << address;
        EXPECT_TRUE(has(ended.errors, "--listen")) << ended.errors;
    }
    Engine engine("memory:");
    const std::string taken = "127.0.0.1:" + std::to_string(engine.port());
    const Ended ended = run_sluice({"serve", "--no-auth", "--listen", taken, "--store", "memory:"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_TRUE(has(ended.errors, std::to_string(engine.port()))) << ended.errors;
}

TEST(CommandLine, NamesEveryMistakeInAConfiguration) {
    const TempFolder folder;
    const std::string path = (folder.path() / "bad.toml").string();
    std::ofstream(path) << "listn = 1\nnode = 5000\n[lease]\ndefault = \"soon\"\n";

    const Ended ended = run_sluice({"serve", "--no-auth", "--store", "memory:", "--config", path});

    EXPECT_EQ(ended.code, 1);
    EXPECT_TRUE(has(ended.errors, "listn")) << ended.errors;
    EXPECT_TRUE(has(ended.errors, "node")) << ended.errors;
    EXPECT_TRUE(has(ended.errors, "default")) << ended.errors;
    EXPECT_EQ(run_sluice({"serve", "--config", path + "x"}).code, 1);
}

TEST(CommandLine, SaysItsVersionAndHelps) {
    EXPECT_TRUE(has(run_sluice({"version"}).output, "sluice "));
    EXPECT_EQ(run_sluice({"--version"}).code, 0);
    const Ended help = run_sluice({"--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_TRUE(has(help.output, "serve"));
    EXPECT_EQ(run_sluice({"serve", "--help"}).code, 0);
}

ON_EACH_STORE(SelfReport);

TEST_P(SelfReport, IsHealthyAndReady) {
    EXPECT_EQ(api.http.get("/healthz").body, R"({"status":"ok"})");
    EXPECT_EQ(api.http.get("/readyz").body, R"({"status":"ready"})");
}

double metric(const std::string& page, const std::string& name) {
    const std::size_t at = page.find("\n" + name + " ");
    if (at == std::string::npos) return -1;
    return std::stod(page.substr(at + name.size() + 2));
}

TEST_P(SelfReport, MetricsCountWhatHappens) {
    const auto page = [&] { return api.http.get("/metrics").body; };
    const std::string before = page();
    api.submit({{"backoff", "none"}, {"max_attempts", 2}});
    const Json lease = api.claim_one();
    expect_ok(api.heartbeat(lease));
    expect_ok(api.log(lease, {Fields{{"message", "x"}}}));
    expect_ok(api.fail(lease));
    expect_ok(api.fail(api.claim_one()));
    const std::string after = page();

    const auto grew = [&](const std::string& name) {
        return metric(after, name) - metric(before, name);
    };
    EXPECT_EQ(grew("sluice_jobs_submitted_total"), 1);
    EXPECT_EQ(grew("sluice_jobs_claimed_total"), 2);
    EXPECT_EQ(grew("sluice_job_retries_total"), 1);
    EXPECT_EQ(grew("sluice_lease_extensions_total"), 1);
    EXPECT_EQ(grew("sluice_log_lines_total"), 1);
    EXPECT_EQ(grew(R"(sluice_jobs_completed_total{outcome="failed"})"), 1);
    EXPECT_EQ(metric(after, "sluice_commit_failures_total"), 0);
}

TEST_P(SelfReport, MetricsShowHowManyJobsWaitInEachQueue) {
    const std::string name = R"(sluice_queue_depth{queue=")" + api.queue() + R"(",type="task"})";
    EXPECT_EQ(metric(api.http.get("/metrics").body, name), -1);
    api.submit_batch(std::vector<Fields>(3));
    EXPECT_EQ(metric(api.http.get("/metrics").body, name), 3);
    api.claim({{"limit", 3}});
    EXPECT_EQ(metric(api.http.get("/metrics").body, name), -1) << "empty queues are not shown";
}

TEST_P(SelfReport, MetricsAreInPrometheusText) {
    api.http.get("/api/v1/jobs/" + api.submit_id());
    const Response response = api.http.get("/metrics");

    EXPECT_EQ(response.header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
    for (const char* name : {"sluice_build_info{version=", "# TYPE sluice_commit_seconds histogram",
                             "# HELP sluice_waiting_claims", "sluice_http_request_seconds_bucket",
                             "route=\"/api/v1/jobs/{id}\""}) {
        EXPECT_TRUE(has(response.body, name)) << name;
    }
}

TEST_P(SelfReport, AnswersCarryTheRequestIdThatTheyWereAskedWith) {
    EXPECT_EQ(api.http.get("/healthz", {{"X-Request-Id", "abc-1.2_3"}}).header("X-Request-Id"),
              "abc-1.2_3");
    EXPECT_NE(api.http.get("/healthz", {{"X-Request-Id", "no good"}}).header("X-Request-Id"),
              "no good");
    EXPECT_EQ(api.http.get("/healthz").header("X-Content-Type-Options"), "nosniff");
}

}  // namespace command_line_test
}  // namespace sluice::e2e
