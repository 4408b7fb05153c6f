// `sluice work`: the real binary, a real engine, real commands.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "e2e/work_process.hpp"

namespace sluice::e2e {
namespace work_test {

class WorkE2e : public testing::Test {
  protected:
    // Runs one job to its end with this script as the command.
    Json run(const std::string& script, const Fields& fields = {}) {
        WorkProcess worker(api, script);
        Fields all = fields;
        if (!all.contains("max_attempts")) all["max_attempts"] = 1;
        const std::string id = api.submit_id(all);
        EXPECT_TRUE(eventually([&] {
            const std::string state = api.state(id);
            return state != "queued" && state != "running";
        })) << worker.process().errors();
        EXPECT_EQ(worker.stop(), 0);
        return api.job(id);
    }

    std::vector<std::string> lines(const Json& job) {
        std::vector<std::string> all;
        for (const Json& line : api.logs(text(job, "id"))) {
            all.push_back(text(line, "level") + " " + text(line, "message"));
        }
        return all;
    }

    Api api{shared_engine("sqlite").port(), fresh_name("queue")};
    TempFolder folder{};
};

TEST_F(WorkE2e, GivesThePayloadAndTakesTheLastLineAsResult) {
    const Json job = run("echo reading; cat", {{"payload", Fields{{"name", "Ada"}}}});

    EXPECT_EQ(text(job, "state"), "succeeded");
    EXPECT_EQ(text(at(job, "result"), "name"), "Ada");
    EXPECT_EQ(lines(job), (std::vector<std::string>{"info reading", "info {\"name\":\"Ada\"}"}));
}

TEST_F(WorkE2e, TakesTheResultFromDescriptorThree) {
    const Json job = run("echo '[1]'; echo '{\"from\":3}' >&3");

    EXPECT_EQ(number(at(job, "result"), "from"), 3);
}

TEST_F(WorkE2e, TriesAgainAfterExitCode75) {
    const Json job =
        run("if [ $SLUICE_ATTEMPT = 1 ]; then echo not yet >&2; exit 75; fi; echo '[]'",
            {{"max_attempts", 3}, {"backoff", "none"}});

    EXPECT_EQ(text(job, "state"), "succeeded");
    EXPECT_EQ(number(job, "attempt"), 2);
}

TEST_F(WorkE2e, DoesNotTryAgainAfterExitCode65) {
    const Json job = run("echo bad input >&2; exit 65", {{"max_attempts", 3}, {"backoff", "none"}});

    EXPECT_EQ(text(job, "state"), "failed");
    EXPECT_EQ(number(job, "attempt"), 1);
    EXPECT_EQ(text(job, "error_code"), "EXIT_65");
    EXPECT_EQ(text(job, "error_message"), "bad input");
}

TEST_F(WorkE2e, StreamsEveryLineInOrderWithItsLevel) {
    const Json job =
        run("i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done; sleep 0.05; "
            "echo careful >&2; sleep 0.05; echo '::error::bad'; printf 'caf\\351\\n'");

    const auto seen = lines(job);
    ASSERT_EQ(seen.size(), 303u);
    for (std::size_t i = 0; i < 300; ++i) EXPECT_EQ(seen[i], "info line " + std::to_string(i));
    EXPECT_EQ(seen[300], "warn careful");
    EXPECT_EQ(seen[301], "error bad");
    EXPECT_EQ(seen[302], "info caf\ufffd");
}

TEST_F(WorkE2e, ShowsProgressWhileTheCommandRuns) {
    const std::string go = (folder.path() / "go").string();
    WorkProcess worker(
        api, "echo '::progress 40 half way'; until [ -e " + go + " ]; do sleep 0.02; done");
    const std::string id = api.submit_id({});

    EXPECT_TRUE(eventually([&] {
        const Json job = api.job(id);
        return !is_null(job, "progress") && number(job, "progress") == 40 &&
               text(job, "message") == "half way";
    }));
    std::ofstream(go) << "now";
    EXPECT_TRUE(api.reaches(id, "succeeded"));
    EXPECT_TRUE(api.logs(id).empty());
    EXPECT_EQ(worker.stop(), 0);
}

TEST_F(WorkE2e, EndsACommandWhoseTimeIsUp) {
    const Json job = run("trap 'echo stopped; exit 0' TERM; while :; do sleep 0.02; done",
                         {{"timeout_ms", 400}});

    EXPECT_EQ(text(job, "state"), "timed_out");
}

TEST_F(WorkE2e, TellsACanceledCommandToStop) {
    const std::string mark = (folder.path() / "stopped").string();
    WorkProcess worker(api,
                       "trap 'touch " + mark +
                           "; exit 0' TERM; echo up; while :; do sleep 0.02; "
                           "done",
                       {"--lease", "1s"});
    const std::string id = api.submit_id({});
    EXPECT_TRUE(eventually([&] { return !api.logs(id).empty(); }));
    expect_ok(api.cancel(id));

    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(mark); }));
    EXPECT_EQ(api.state(id), "canceled");
    EXPECT_EQ(worker.stop(), 0);
}

TEST_F(WorkE2e, KeepsItsJobOverARestartOfTheEngine) {
    const std::string store = "sqlite:" + (folder.path() / "jobs.db").string();
    const std::string go = (folder.path() / "go").string();
    auto engine = std::make_unique<Engine>(store);
    const std::string address = "127.0.0.1:" + std::to_string(engine->port());
    Api before(engine->port(), "restart");
    WorkProcess worker(before, "echo up; until [ -e " + go + " ]; do sleep 0.02; done; echo '[7]'",
                       {"--lease", "10s"});
    const std::string id = before.submit_id({});
    EXPECT_TRUE(eventually([&] { return !before.logs(id).empty(); }));
    engine->kill();
    Process again(sluice_command({"serve", "--no-auth", "--listen", address, "--store", store}));
    ASSERT_TRUE(again.read_line(Millis(10'000)));
    std::ofstream(go) << "now";

    Api after(before.port(), "restart");
    EXPECT_TRUE(after.reaches(id, "succeeded"));
    EXPECT_EQ(number(after.job(id), "attempt"), 1);
    EXPECT_EQ(after.logs(id).size(), 2u);
    EXPECT_EQ(worker.stop(), 0);
}

TEST_F(WorkE2e, LetsARunningJobFinishWhenItIsStopped) {
    WorkProcess worker(api, "echo up; sleep 0.5; echo '[1]'");
    const std::string id = api.submit_id({});
    EXPECT_TRUE(eventually([&] { return !api.logs(id).empty(); }));

    EXPECT_EQ(worker.stop(), 0);
    EXPECT_EQ(api.state(id), "succeeded");
}

TEST_F(WorkE2e, HandsTheJobBackWhenItIsStoppedTwice) {
    WorkProcess worker(api, "echo up; sleep 30");
    const std::string id = api.submit_id({});
    EXPECT_TRUE(eventually([&] { return !api.logs(id).empty(); }));
    worker.process().send_signal(SIGINT);
    worker.process().send_signal(SIGTERM);

    EXPECT_EQ(worker.process().wait(Millis(8000)), 0);
    EXPECT_EQ(api.state(id), "queued");
    EXPECT_EQ(number(api.job(id), "attempt"), 0);
}

TEST_F(WorkE2e, RunsSeveralCommandsAtOnce) {
    WorkProcess worker(api, "sleep 0.5; echo '[]'", {"--concurrency", "10", "-q"});
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::string> ids;
    for (int i = 0; i < 10; ++i) ids.push_back(api.submit_id({}));

    for (const std::string& id : ids) EXPECT_TRUE(api.reaches(id, "succeeded"));
    EXPECT_LT(since(start), Millis(3000));
    EXPECT_EQ(worker.stop(), 0);
    EXPECT_EQ(worker.process().errors(), "");
}

// Fills the pipe that is the standard error of a process.
void fill_errors_of(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/fd/2";
    const int pipe = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(pipe, 0);
    while (::write(pipe, "\n", 1) == 1) continue;
    ::close(pipe);
}

TEST_F(WorkE2e, GoesOnAndStopsWhenNobodyReadsWhatItSays) {
    WorkProcess worker(api, "echo '[]'", {"--concurrency", "4"});
    EXPECT_TRUE(api.reaches(api.submit_id({}), "succeeded"));
    fill_errors_of(worker.process().pid());
    std::vector<std::string> ids;
    for (int i = 0; i < 20; ++i) ids.push_back(api.submit_id({}));

    for (const std::string& id : ids) ASSERT_TRUE(api.reaches(id, "succeeded"));
    worker.process().send_signal(SIGTERM);
    EXPECT_TRUE(eventually([&] { return is_over(worker.process().pid()); }));
    EXPECT_EQ(worker.process().wait(Millis(1000)), 0);
}

TEST_F(WorkE2e, SaysHowManyLinesItLeftOut) {
    WorkProcess worker(api, "head -c 5000 /dev/zero | tr '\\0' x >&2; exit 65",
                       {"--concurrency", "8"});
    const std::string type(200, 't');
    EXPECT_TRUE(api.reaches(api.submit_id({{"type", type}}), "failed"));
    fill_errors_of(worker.process().pid());
    std::vector<std::string> ids;
    for (int i = 0; i < 450; ++i) ids.push_back(api.submit_id({{"type", type}}));
    for (const std::string& id : ids) ASSERT_TRUE(api.reaches(id, "failed"));

    EXPECT_EQ(worker.stop(), 0);
    const std::string& said = worker.process().errors();
    EXPECT_NE(said.find(" lines were not shown\n"), std::string::npos) << said.size();
    EXPECT_NE(said.find(" stopped\n"), std::string::npos) << said.size();
}

TEST_F(WorkE2e, EndsWellWheneverASignalComes) {
    for (const int pause_ms : {0, 60}) {
        WorkProcess worker(api, "true", {"-q"});
        // It blocks the signals before it starts the process that holds commands.
        ASSERT_TRUE(eventually([&] { return worker.leash() > 0; }));
        ::usleep(static_cast<useconds_t>(pause_ms * 1000));
        worker.process().send_signal(SIGTERM);
        const auto start = std::chrono::steady_clock::now();
        while (since(start) < Millis(5000) && !is_over(worker.process().pid())) {
            worker.process().send_signal(SIGHUP);
            ::usleep(500);
        }
        EXPECT_EQ(worker.process().wait(Millis(5000)), 0) << pause_ms;
    }
}

TEST_F(WorkE2e, TellsTheOperatorWhatItDoes) {
    WorkProcess worker(api, "exit 3", {"--types", "task,other"});
    const std::string id = api.submit_id({{"max_attempts", 1}});
    EXPECT_TRUE(api.reaches(id, "failed"));
    EXPECT_EQ(worker.stop(), 0);

    const std::string& said = worker.process().errors();
    for (const std::string part : {"of type task, other", "EXIT_3", "stopped"}) {
        EXPECT_NE(said.find(part), std::string::npos) << said;
    }
    EXPECT_NE(said.find(id + " task failed after"), std::string::npos) << said;
    EXPECT_EQ(said.find('\x1b'), std::string::npos) << said;
    EXPECT_EQ(worker.process().output(), "");
}

TEST_F(WorkE2e, RefusesWhatCannotWork) {
    const std::string script = (folder.path() / "script").string();
    std::ofstream(script) << "#!/bin/sh\n";
    struct Refusal {
        std::vector<std::string> arguments;
        std::string part;
    };
    const std::vector<Refusal> table{
        {{"--types", "a"}, "--exec COMMAND"},
        {{"--types", "a", "--exec"}, "--exec COMMAND"},
        {{"--types", "a", "true"}, "write --exec before"},
        {{"--exec", "true"}, "--types A,B or --queue NAME"},
        {{"--types", "a", "--exec", "/nowhere/tool"}, "no such file"},
        {{"--types", "a", "--exec", "no-such-tool"}, "PATH"},
        {{"--types", "a", "--exec", script}, "chmod +x"},
        {{"--types", "a", "--lease", "soon", "--exec", "true"}, "--lease"},
        {{"--types", "a", "--lease", "10ms", "--exec", "true"}, "between 1s and 1h"},
        {{"--types", "a", "--concurrency", "0", "--exec", "true"}, "concurrency"},
        {{"--types", "a", "--laese", "5s", "--exec", "true"}, "--lease"},
        {{"--server", "ftp://x", "--types", "a", "--exec", "true"}, "ftp"},
    };
    for (const auto& [arguments, part] : table) {
        std::vector<std::string> all{"work"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        const Ended ended = run_sluice(all);
        EXPECT_EQ(ended.code, 2) << part << ended.errors;
        EXPECT_NE(ended.errors.find(part), std::string::npos) << part << ": " << ended.errors;
    }
}

TEST_F(WorkE2e, TakesWhateverFollowsExecAsItStands) {
    for (const char* mark : {"--exec", "--"}) {
        Process worker({SLUICE_BINARY, "work", "--queue", api.queue(), "--server",
                        "http://127.0.0.1:" + std::to_string(api.port()), mark, "/bin/sh", "-c",
                        "printf '%s|' \"$@\"", "sh", "--types", "run", "-q", "--", "a b", "[1,2]",
                        "", "--help"});
        const std::string id = api.submit_id({});
        EXPECT_TRUE(api.reaches(id, "succeeded"));
        EXPECT_EQ(text(api.logs(id).at(0), "message"), "--types|run|-q|--|a b|[1,2]||--help|");
        worker.send_signal(SIGTERM);
        EXPECT_EQ(worker.wait(Millis(10'000)), 0);
    }
}

}  // namespace work_test
}  // namespace sluice::e2e
