// Commands are real: small shell scripts on a real leash.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "client/link/boot_time.hpp"
#include "interfaces/worker/executors/executor.hpp"
#include "tests/support/test_context.hpp"

namespace sluice::worker {
namespace run_command_test {

using namespace std::chrono_literals;
using client::boot_now;
using client::Level;
using client::Outcome;
using client::StopReason;
using test::TestContext;
using Kind = Outcome::Kind;

client::Job some_job() {
    client::Job job;
    job.id = "6af930d6039a000000000000";
    job.type = "greet";
    job.queue = "mail";
    job.tenant = "acme";
    job.payload = R"({"name":"Ada"})";
    job.attempt = 2;
    job.max_attempts = 5;
    return job;
}

class RunCommand : public testing::Test {
  protected:
    Outcome run(const std::string& script, const client::Job& job = some_job()) {
        return run_argv({"/bin/sh", "-c", script}, job);
    }
    Outcome run_argv(std::vector<std::string> argv, const client::Job& job = some_job()) {
        const auto worker = command_worker({.argv = std::move(argv), .stop_grace = grace}, leash);
        return worker->execute(job, context);
    }

    std::vector<std::string> messages() const {
        std::vector<std::string> all;
        for (const test::Line& line : context.lines()) all.push_back(line.message);
        return all;
    }

    std::shared_ptr<Leash> leash = std::make_shared<Leash>();
    TestContext context{};
    Millis grace{5'000};
};

struct Ending {
    const char* script;
    Kind kind;
    const char* code;     // of the error, or the result
    const char* message;  // part of it
    bool retryable = true;
};

TEST_F(RunCommand, MakesOfEachEndWhatTheTableSays) {
    const std::vector<Ending> table{
        {"exit 0", Kind::succeeded, "", ""},
        {"echo chat; echo '{\"a\": 1}'", Kind::succeeded, "{\"a\": 1}", ""},
        {"echo '[1,2]'; echo; echo ' '", Kind::succeeded, "[1,2]", ""},
        {"echo '{\"a\":1}'; echo bye", Kind::succeeded, "", ""},
        {"echo 42", Kind::succeeded, "", ""},
        {"echo '{broken'", Kind::succeeded, "", ""},
        {"echo '{\"line\":1}'; echo '{\"fd\":3}' >&3", Kind::succeeded, "{\"fd\":3}", ""},
        {"echo 42 >&$SLUICE_RESULT_FD", Kind::succeeded, "42", ""},
        {"printf '  \\n' >&3; echo '{}'", Kind::succeeded, "{}", ""},
        {"printf '\\n\"two\\nlines\"' >&3", Kind::failed, "INVALID_RESULT", "descriptor 3", false},
        {"echo '{} {}' >&3", Kind::failed, "INVALID_RESULT", "not one JSON value", false},
        {"echo oops >&3", Kind::failed, "INVALID_RESULT", "descriptor 3", false},
        {"head -c 300000 /dev/zero >&3", Kind::failed, "RESULT_TOO_LARGE", "256 KiB", false},
        {"echo later >&2; exit 75", Kind::failed, "EXIT_75", "later"},
        {"echo never >&2; exit 65", Kind::failed, "EXIT_65", "never", false},
        {"exit 1", Kind::failed, "EXIT_1", "ended with code 1"},
        {"echo only stdout; exit 127", Kind::failed, "EXIT_127", "only stdout"},
        {"kill -SEGV $$", Kind::failed, "SIGNAL_SEGV", "signal SEGV"},
        {"echo gone >&2; kill -KILL $$", Kind::failed, "SIGNAL_KILL", "gone"},
        {"echo '{\"error_code\":\"E_DISK\",\"message\":\"disk full\"}' >&3; exit 3", Kind::failed,
         "E_DISK", "disk full"},
        {"echo '{\"error\":\"bad\",\"retryable\":false}' >&3; exit 3", Kind::failed, "EXIT_3",
         "bad", false},
        {"echo '{\"retryable\":true,\"error\":1}' >&3; echo why >&2; exit 65", Kind::failed,
         "EXIT_65", "why", true},
        {"echo 'not json' >&3; echo why >&2; exit 1", Kind::failed, "EXIT_1", "why"},
        {"echo '::error::it broke'; exit 1", Kind::failed, "EXIT_1", "it broke"},
    };
    for (const Ending& row : table) {
        const Outcome outcome = run(row.script);

        EXPECT_EQ(outcome.kind, row.kind) << row.script << ": " << outcome.error_message;
        if (row.kind == Kind::succeeded) {
            EXPECT_EQ(outcome.result, row.code) << row.script;
            continue;
        }
        EXPECT_EQ(outcome.error_code, row.code) << row.script;
        EXPECT_NE(outcome.error_message.find(row.message), std::string::npos)
            << row.script << ": " << outcome.error_message;
        EXPECT_EQ(outcome.retryable, row.retryable) << row.script;
    }
}

TEST_F(RunCommand, SaysWhenACommandCannotBeStarted) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "this sanitizer makes fork of vfork, so that the leash cannot know";
#endif
    const Outcome outcome = run_argv({"/nowhere/tool"});

    EXPECT_EQ(outcome.error_code, "COMMAND_NOT_STARTED");
    EXPECT_FALSE(outcome.retryable);
    EXPECT_NE(outcome.error_message.find("/nowhere/tool"), std::string::npos);
}

TEST_F(RunCommand, GivesThePayloadOnStandardInputAndInAPrivateFile) {
    const Outcome outcome =
        run("cat; echo; cat \"$SLUICE_PAYLOAD_FILE\"; echo; stat -c %a \"$SLUICE_PAYLOAD_FILE\" "
            "$(dirname \"$SLUICE_PAYLOAD_FILE\"); echo \"$SLUICE_PAYLOAD_FILE\"");

    ASSERT_EQ(outcome.kind, Kind::succeeded);
    const std::vector<std::string> lines = messages();
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[0], R"({"name":"Ada"})");
    EXPECT_EQ(lines[1], R"({"name":"Ada"})");
    EXPECT_EQ(lines[2], "600");
    EXPECT_EQ(lines[3], "700");
    EXPECT_FALSE(std::filesystem::exists(lines[4]));
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(lines[4]).parent_path()));
}

TEST_F(RunCommand, GivesAPayloadThatTheCommandDoesNotRead) {
    client::Job job = some_job();
    job.payload = '"' + std::string(250'000, 'x') + '"';

    EXPECT_EQ(run("exit 0", job).kind, Kind::succeeded);
    EXPECT_EQ(run("wc -c", job).kind, Kind::succeeded);
    EXPECT_EQ(messages(), std::vector<std::string>{"250002"});
}

TEST_F(RunCommand, TellsTheCommandAboutItsJob) {
    client::Job job = some_job();
    job.project = "p";
    job.entity_type = "release";
    job.entity_id = "r 42";
    job.site_id = "s-1";
    job.node_id = "n-1";
    job.correlation_id = "c";
    job.labels = {"linux", "gpu=yes"};
    job.priority = -5;
    job.timeout = 60s;

    run("env | grep ^SLUICE_ | grep -v PAYLOAD_FILE | LC_ALL=C sort", job);

    EXPECT_EQ(messages(),
              (std::vector<std::string>{
                  "SLUICE_ATTEMPT=2", "SLUICE_CORRELATION_ID=c", "SLUICE_ENTITY_ID=r 42",
                  "SLUICE_ENTITY_TYPE=release", "SLUICE_JOB_ID=6af930d6039a000000000000",
                  "SLUICE_JOB_TYPE=greet", "SLUICE_LABELS=linux,gpu=yes", "SLUICE_LEASE_ID=lease-1",
                  "SLUICE_MAX_ATTEMPTS=5", "SLUICE_NODE_ID=n-1", "SLUICE_PRIORITY=-5",
                  "SLUICE_PROJECT=p", "SLUICE_QUEUE=mail", "SLUICE_RESULT_FD=3",
                  "SLUICE_SITE_ID=s-1", "SLUICE_TENANT=acme", "SLUICE_TIMEOUT_MS=60000"}));
}

TEST_F(RunCommand, AddsVariablesOfTheExecutorAndOfTheJob) {
    CommandExecutor executor{
        .argv = {"/bin/sh", "-c", "echo $A-$B-$SLUICE_QUEUE"},
        .environment = {.set = {{"A", "1"}, {"B", "1"}, {"SLUICE_QUEUE", "x"}}}};
    const auto worker = command_worker(executor, leash, [](const client::Job& job) {
        return std::vector<std::pair<std::string, std::string>>{{"B", job.type}};
    });
    worker->execute(some_job(), context);

    EXPECT_EQ(messages(), std::vector<std::string>{"1-greet-mail"});
}

TEST_F(RunCommand, LogsLinesWithTheirLevelsAndGroups) {
    run("echo one; echo '::group::Build it'; echo inside; echo '::warning::careful'; "
        "echo '::endgroup::'; echo '::error::bad'; echo '::endgroup::'; printf 'no end'");

    const auto lines = context.lines();
    ASSERT_EQ(lines.size(), 8u) << context.text();
    const auto is = [&](std::size_t i, Level level, const char* message, const char* data) {
        EXPECT_EQ(lines[i].level, level) << i;
        EXPECT_EQ(lines[i].message, message);
        EXPECT_EQ(lines[i].data, data) << i;
    };
    is(0, Level::info, "one", "");
    is(1, Level::info, "Build it", R"({"group":"Build it"})");
    is(2, Level::info, "inside", R"({"group":"Build it"})");
    is(3, Level::warn, "careful", R"({"group":"Build it"})");
    is(4, Level::info, "Build it", R"({"group_end":"Build it"})");
    is(5, Level::error, "bad", "");
    is(6, Level::info, "::endgroup::", "");
    is(7, Level::info, "no end", "");
}

TEST_F(RunCommand, KeepsGroupsShortAndShallow) {
    run("name=$(printf '%0199d\\303\\251' 0); i=0; "
        "while [ $i -lt 40 ]; do echo \"::group::$name\"; i=$((i+1)); done; "
        "while [ $i -gt 0 ]; do echo ::endgroup::; i=$((i-1)); done; echo out");

    const auto lines = context.lines();
    const auto count = [&](const std::string& member) {
        return std::count_if(lines.begin(), lines.end(), [&](const test::Line& line) {
            return line.data == "{\"" + member + "\":\"" + std::string(199, '0') + "\"}";
        });
    };
    EXPECT_EQ(count("group"), 40);  // eight of them as lines of the innermost
    EXPECT_EQ(count("group_end"), 32);
    ASSERT_EQ(lines.size(), 73u);
    EXPECT_EQ(lines.back().message, "out");
    EXPECT_EQ(lines.back().data, "");
}

TEST_F(RunCommand, LogsStandardErrorAsWarnings) {
    run("echo warned >&2");

    ASSERT_EQ(context.lines().size(), 1u);
    EXPECT_EQ(context.lines()[0].level, Level::warn);
}

TEST_F(RunCommand, TakesProgressAndLogsWhatOnlyLooksLikeIt) {
    run("echo '::progress 10'; echo '::progress 40 half way  there'; echo '::progress 100%'; "
        "echo '::progress 101'; echo '::progress soon'; echo ' ::progress 5'; echo '::other'");

    const std::vector<std::pair<int, std::string>> seen{
        {10, ""}, {40, "half way  there"}, {100, ""}};
    EXPECT_EQ(context.progress_seen(), seen);
    EXPECT_EQ(messages(), (std::vector<std::string>{"::progress 101", "::progress soon",
                                                    " ::progress 5", "::other"}));
}

TEST_F(RunCommand, TakesALongLastLineAsResultThoughItIsLoggedInPieces) {
    const Outcome outcome =
        run("printf '{\"text\":\"'; head -c 100000 /dev/zero | tr '\\0' x; echo '\"}'");

    EXPECT_EQ(outcome.result.size(), 100'011u);
    EXPECT_EQ(messages().size(), 7u);
}

TEST_F(RunCommand, KeepsTheEndOfALongErrorOutput) {
    const Outcome outcome =
        run("i=0; while [ $i -lt 1000 ]; do echo line $i >&2; i=$((i+1)); done; "
            "exit 1");

    EXPECT_LE(outcome.error_message.size(), 2048u);
    EXPECT_GE(outcome.error_message.size(), 1900u);
    EXPECT_TRUE(outcome.error_message.starts_with("line "));
    EXPECT_TRUE(outcome.error_message.ends_with("line 999"));
    EXPECT_EQ(messages().size(), 1000u);
}

TEST_F(RunCommand, DoesNotWaitForABackgroundProcessThatHoldsThePipes) {
    const auto start = boot_now();
    // One process stays in the group and is killed; one leaves it and goes on.
    const Outcome outcome =
        run("sleep 20 & setsid sh -c 'echo $$; exec sleep 1.5' & sleep 0.2; echo '{\"ok\":true}'");

    EXPECT_EQ(outcome.result, R"({"ok":true})");
    EXPECT_LT(boot_now() - start, 1400ms);
}

TEST_F(RunCommand, StopsWhenTheJobShouldStop) {
    const std::string patient =
        "trap 'echo stopping; exit 0' TERM; echo up; "
        "while :; do sleep 0.01; done";
    const std::vector<std::pair<StopReason, Kind>> table{{StopReason::canceled, Kind::canceled},
                                                         {StopReason::deadline, Kind::timed_out},
                                                         {StopReason::shutdown, Kind::canceled}};
    for (const auto& [reason, kind] : table) {
        TestContext stopped_context;
        std::thread stopper([&stopped_context, reason = reason] {
            while (stopped_context.lines().empty()) std::this_thread::sleep_for(2ms);
            stopped_context.token.request(reason);
        });
        const auto worker = command_worker({.argv = {"/bin/sh", "-c", patient}}, leash);
        const Outcome outcome = worker->execute(some_job(), stopped_context);
        stopper.join();

        EXPECT_EQ(outcome.kind, kind);
        EXPECT_NE(stopped_context.text().find("stopping"), std::string::npos);
    }
}

TEST_F(RunCommand, KillsACommandThatDoesNotStop) {
    grace = 200ms;
    const auto start = boot_now();
    context.token.request(StopReason::canceled);

    EXPECT_EQ(run("trap '' TERM; while :; do sleep 0.05; done").kind, Kind::canceled);
    EXPECT_LT(boot_now() - start, 2s);
}

TEST_F(RunCommand, KillsAtOnceWhenTheLeaseIsLostAlsoWhileItStops) {
    std::thread stopper([&] {
        while (context.lines().empty()) std::this_thread::sleep_for(2ms);
        context.token.request(StopReason::canceled);
        std::this_thread::sleep_for(50ms);
        context.token.request(StopReason::lease_lost);
    });
    const auto start = boot_now();
    run("trap '' TERM; echo up; while :; do sleep 0.05; done");
    stopper.join();

    EXPECT_LT(boot_now() - start, 2s);
}

TEST_F(RunCommand, EndsBeforeALeaseThatIsNotRenewed) {
    context.until = boot_now() + 2500ms;
    const Outcome outcome = run("trap '' TERM; while :; do sleep 0.02; done");

    EXPECT_LT(boot_now(), context.until);
    EXPECT_EQ(outcome.error_code, "LEASE_NOT_RENEWED");
    EXPECT_TRUE(outcome.retryable);
}

TEST_F(RunCommand, HasNotSucceededWhenItEndsBecauseOfItsLease) {
    context.until = boot_now() + 700ms;
    const Outcome outcome =
        run("trap 'echo \"{}\" >&3; exit 0' TERM; while :; do sleep 0.02; done");

    EXPECT_EQ(outcome.kind, Kind::failed);
    EXPECT_EQ(outcome.error_code, "LEASE_NOT_RENEWED");
    EXPECT_TRUE(outcome.retryable);
}

TEST_F(RunCommand, DoesNotStartWhenItsLeaseIsOver) {
    const auto file =
        std::filesystem::temp_directory_path() / ("sluice-too-late-" + std::to_string(::getpid()));
    context.until = boot_now();
    const Outcome outcome = run("touch " + file.string());

    EXPECT_EQ(outcome.kind, Kind::failed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_FALSE(std::filesystem::remove(file));
}

TEST_F(RunCommand, GoesOnWhileTheLeaseIsRenewed) {
    context.until = boot_now() + 500ms;
    std::atomic<bool> over = false;
    std::thread heart([&] {
        while (!over) {
            context.renew(boot_now() + 500ms);
            std::this_thread::sleep_for(50ms);
        }
    });
    const Outcome outcome = run("sleep 1; echo '[1]'");
    over = true;
    heart.join();

    EXPECT_EQ(outcome.result, "[1]");
}

TEST_F(RunCommand, RemovesWhatAKilledWorkerLeftBehind) {
    const auto folder = std::filesystem::temp_directory_path();
    std::string abandoned = (folder / "sluice-work-XXXXXX").string();
    ASSERT_NE(::mkdtemp(abandoned.data()), nullptr);
    std::ofstream(abandoned + "/payload.json") << "{}";
    const auto first =
        command_worker({.argv = {"/bin/sh", "-c", "test -f $SLUICE_PAYLOAD_FILE"}}, leash);
    const auto second = command_worker({.argv = {"true"}}, leash);

    EXPECT_FALSE(std::filesystem::exists(abandoned));
    EXPECT_EQ(first->execute(some_job(), context).kind, Kind::succeeded);
}

}  // namespace run_command_test
}  // namespace sluice::worker
