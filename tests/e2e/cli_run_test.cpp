#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <thread>

#include "domain/values/time.hpp"
#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace cli_run_test {

class CliRun : public CliTest {};

TEST_F(CliRun, PrintsTheIdAndNothingElseOnAPipe) {
    const Ended ended = cli({"run", "task", "--queue", api.queue()});

    EXPECT_EQ(ended.code, 0);
    ASSERT_EQ(ended.output.size(), 25u) << ended.output;
    EXPECT_EQ(ended.errors, "");
    EXPECT_EQ(api.state(ended.output.substr(0, 24)), "queued");
}

TEST_F(CliRun, SaysMoreOnATerminal) {
    const Ended ended = on_terminal({"run", "task", "--queue", api.queue()});

    EXPECT_EQ(ended.code, 0);
    EXPECT_TRUE(has(ended.output, "submitted task to queue " + api.queue())) << ended.output;
    const std::string id = lines_of(ended.output).back();
    EXPECT_EQ(api.state(id), "queued") << ended.output;
    EXPECT_EQ(lines_of(on_terminal({"run", "task", "--queue", api.queue(), "-q"}).output).size(),
              1u);
}

TEST_F(CliRun, SendsEveryField) {
    const std::string first = run_job();
    const Json job = api.job(run_job({"--data",
                                      R"({"a": [1, 2]})",
                                      "--priority",
                                      "-7",
                                      "--delay",
                                      "1h",
                                      "--timeout",
                                      "90s",
                                      "--max-attempts",
                                      "4",
                                      "--backoff",
                                      "10s,1m",
                                      "--on-dependency-failure",
                                      "run",
                                      "--label",
                                      "linux",
                                      "--label",
                                      "os=debian",
                                      "--exclusive",
                                      "k1",
                                      "--exclusive",
                                      "k2",
                                      "--depends-on",
                                      first.substr(0, 20),
                                      "--entity",
                                      "release/r/42",
                                      "--site",
                                      "s1",
                                      "--node",
                                      "n1",
                                      "--project",
                                      "p",
                                      "--source",
                                      "me",
                                      "--correlation-id",
                                      "c1"}));

    EXPECT_EQ(at(job, "payload"), parse(R"({"a":[1,2]})"));
    EXPECT_EQ(number(job, "priority"), -7);
    EXPECT_EQ(number(job, "timeout_ms"), 90'000);
    EXPECT_EQ(number(job, "max_attempts"), 4);
    EXPECT_EQ(at(job, "backoff"), (List{10'000, 60'000}));
    EXPECT_EQ(text(job, "on_dependency_failure"), "run");
    EXPECT_EQ(list(job, "labels").size(), 2u);
    EXPECT_EQ(list(job, "exclusive_keys").size(), 2u);
    EXPECT_EQ(list(job, "depends_on").at(0), Json(first));
    EXPECT_EQ(text(job, "entity_type"), "release");
    EXPECT_EQ(text(job, "entity_id"), "r/42");
    EXPECT_EQ(text(job, "site_id"), "s1");
    EXPECT_EQ(text(job, "node_id"), "n1");
    EXPECT_EQ(text(job, "project"), "p");
    EXPECT_EQ(text(job, "source"), "me");
    EXPECT_EQ(text(job, "correlation_id"), "c1");
    EXPECT_GT(text(job, "run_after"), text(job, "created_at"));
}

TEST_F(CliRun, TakesEveryKindOfBackoff) {
    const auto backoff = [&](const char* text) {
        return at(api.job(run_job({"--backoff", text})), "backoff");
    };
    EXPECT_EQ(backoff("none"), Json("none"));
    EXPECT_EQ(backoff("90s"), (List{90'000}));
    EXPECT_EQ(backoff("1s..5m"),
              (Fields{{"kind", "exponential"}, {"base_ms", 1000}, {"cap_ms", 300'000}}));
    for (const char* text : {"soon", "1s..", "..", "1s,soon"}) {
        const Ended ended = cli({"run", "task", "--backoff", text});
        EXPECT_EQ(ended.code, 2) << text;
        EXPECT_TRUE(has(ended.errors, std::string("--backoff \"") + text + "\": write none"))
            << ended.errors;
    }
    const Ended ended = cli({"run", "task", "--on-dependency-failure", "wait"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_TRUE(has(ended.errors, "write cancel or run")) << ended.errors;
}

TEST_F(CliRun, TakesAMomentToRunAt) {
    const auto tomorrow =
        std::chrono::ceil<Duration>(std::chrono::system_clock::now() + std::chrono::hours(24));
    const std::string moment = to_rfc3339(tomorrow);

    EXPECT_EQ(text(api.job(run_job({"--at", moment})), "run_after"), moment);
}

TEST_F(CliRun, ReadsItsDataFromAFileAndFromStandardInput) {
    const std::string path = (folder.path() / "payload.json").string();
    std::ofstream(path) << "  {\"n\": 1}\n";
    EXPECT_EQ(at(api.job(run_job({"--data", "@" + path})), "payload"), parse(R"({"n":1})"));

    Process shell({"/bin/sh", "-c",
                   std::string("echo '[1]' | " SLUICE_BINARY " run task --data - --queue ") +
                       api.queue() + " --server " + server()});
    ASSERT_EQ(shell.wait(Millis(10'000)), 0) << shell.errors();
    EXPECT_EQ(at(api.job(shell.output().substr(0, 24)), "payload"), parse("[1]"));
}

TEST_F(CliRun, RefusesWhatMakesNoSense) {
    const std::vector<std::pair<Words, std::string>> cases{
        {{"--data", "{name: Ada}"}, "--data is not JSON"},
        {{"--data", " "}, "--data is not JSON"},
        {{"--data", ""}, "--data must not be empty"},
        {{"--key", ""}, "--key must not be empty"},
        {{"--site", ""}, "--site must not be empty"},
        {{"--tenant="}, "--tenant must not be empty"},
        {{"--token", ""}, "--token must not be empty"},
        {{"--data", "@/nowhere/at/all"}, "/nowhere/at/all"},
        {{"--delay", "5 minutes"}, "--delay \"5 minutes\" is no duration"},
        {{"--at", "tomorrow"}, "--at \"tomorrow\" is no time"},
        {{"--at", "2100-01-01T00:00:00Z", "--delay", "1s"}, "--delay and --at"},
        {{"--entity", "release"}, "TYPE/ID"},
        {{"--entity", "/x"}, "--entity must be TYPE/ID"},
        {{"--entity", "release/"}, "--entity must be TYPE/ID"},
        {{"--max-attempts", "0"}, "--max-attempts must be"},
        {{"--priority", "high"}, "--priority must be a whole number, not \"high\""},
        {{"--label", std::string(300, 'x')}, "--label"},
        {{"--depends-on", "xyz"}, "\"xyz\" is no job id"},
        {{"--depends-on", "6af930d6039a000000000000"}, "--depends-on: no job has the id"},
        {{"-o", "yaml"}, "-output \"yaml\""},
        {{"--fields", "id,stat"}, "did you mean \"state\"?"},
        {{"--json", "-o", "table"}, "contradict"},
        {{"--wait-timeout", "x"}, "--wait-timeout"},
    };
    for (const auto& [more, message] : cases) {
        Words words{"run", "task", "--queue", api.queue()};
        words.insert(words.end(), more.begin(), more.end());
        const Ended ended = cli(words);
        EXPECT_EQ(ended.code, 2) << message;
        EXPECT_TRUE(has(ended.errors, message)) << ended.errors;
        EXPECT_EQ(ended.output, "");
    }
    EXPECT_TRUE(list(api.get("/api/v1/jobs?queue=" + api.queue()), "jobs").empty());
}

TEST_F(CliRun, TheSameKeyGivesTheSameJob) {
    const std::string key = fresh_name("key");
    const std::string id = run_job({"--key", key});

    EXPECT_EQ(run_job({"--key", key}), id);
    const Ended other = cli({"run", "task", "--queue", api.queue(), "--key", key, "--data", "1"});
    EXPECT_EQ(other.code, 6) << other.errors;
}

TEST_F(CliRun, SaysThatNoEngineAnswers) {
    const Ended ended = run_sluice({"run", "task", "--server", "http://127.0.0.1:1"});

    EXPECT_EQ(ended.code, 10);
    EXPECT_TRUE(has(ended.errors, "127.0.0.1:1")) << ended.errors;
    EXPECT_TRUE(has(ended.errors, "sluice dev")) << ended.errors;
    EXPECT_EQ(run_sluice({"run", "task", "--server", "nonsense"}).code, 2);
    const std::string https = "https://127.0.0.1:" + std::to_string(engine.port());
    const Ended untrusted = run_sluice({"run", "task", "--server", https});
    EXPECT_EQ(untrusted.code, 10);
    EXPECT_TRUE(has(untrusted.errors, "http:// if it has no certificate")) << untrusted.errors;
}

TEST_F(CliRun, ShowsTheRequestInPlaceOfSendingIt) {
    const Ended ended = cli({"run", "task", "--queue", api.queue(), "--data", R"({"q":"it's"})",
                             "--token", "secret", "--curl"});

    EXPECT_EQ(ended.code, 0);
    EXPECT_TRUE(ended.output.starts_with("curl ")) << ended.output;
    EXPECT_TRUE(has(ended.output, server() + "/api/v1/jobs'")) << ended.output;
    EXPECT_TRUE(has(ended.output, R"(it'\''s)")) << ended.output;
    EXPECT_TRUE(has(ended.output, R"("Authorization: Bearer $SLUICE_TOKEN")")) << ended.output;
    EXPECT_FALSE(has(ended.output, "secret"));
    EXPECT_TRUE(list(api.get("/api/v1/jobs?queue=" + api.queue()), "jobs").empty());
}

// Claims the next job for another thread that waits for it, and ends it.
void end_next_job(std::uint16_t port, const std::string& queue, const Fields& outcome) {
    Api worker(port, queue);
    expect_ok(worker.report(worker.claim_one({{"wait_ms", 10'000}}), outcome));
}

TEST_F(CliRun, ExitsWithTheJobsFinalState) {
    const std::vector<std::pair<Fields, int>> cases{
        {{{"outcome", "succeeded"}, {"result", Fields{{"n", 1}}}}, 0},
        {{{"outcome", "failed"}, {"error_code", "E_DISK"}, {"retryable", false}}, 3},
        {{{"outcome", "timed_out"}}, 3},
        {{{"outcome", "canceled"}}, 8},
    };
    for (const auto& [outcome, code] : cases) {
        std::thread worker([&] { end_next_job(api.port(), api.queue(), outcome); });
        const Ended ended = cli({"run", "task", "--queue", api.queue(), "--wait"});
        worker.join();
        EXPECT_EQ(ended.code, code) << ended.errors;
        EXPECT_EQ(ended.output, code == 0 ? "{\"n\":1}\n" : "");
        EXPECT_TRUE(has(ended.errors, text(outcome, "outcome"))) << ended.errors;
    }
}

TEST_F(CliRun, StopsWaitingWhenTheTimeIsUp) {
    const Ended ended =
        cli({"run", "task", "--queue", api.queue(), "--wait", "--wait-timeout", "200ms"});

    EXPECT_EQ(ended.code, 7);
    EXPECT_TRUE(has(ended.errors, "the job goes on")) << ended.errors;
}

TEST_F(CliRun, PrintsTheWholeJobWhenAskedTo) {
    std::thread worker([&] { end_next_job(api.port(), api.queue(), {{"outcome", "succeeded"}}); });
    const Ended ended = cli({"run", "task", "--queue", api.queue(), "--wait", "--json"});
    worker.join();
    EXPECT_EQ(text(parse(ended.output), "state"), "succeeded");

    const Ended picked =
        cli({"run", "task", "--queue", api.queue(), "--json", "--fields", "state,type"});
    EXPECT_EQ(picked.output, "{\"state\":\"queued\",\"type\":\"task\"}\n");
}

}  // namespace cli_run_test
}  // namespace sluice::e2e
