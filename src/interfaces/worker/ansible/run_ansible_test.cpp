#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "interfaces/worker/ansible/ansible_files.hpp"
#include "interfaces/worker/executors/private_folder.hpp"
#include "tests/support/test_context.hpp"

namespace sluice::worker {
namespace run_ansible_test {

using namespace std::chrono_literals;
using client::Job;
using client::Level;
using client::Outcome;
using client::StopReason;
using test::TestContext;

Job site_job(std::string payload = "null") {
    return {.id = "job-7",
            .project = "shop",
            .type = "env_deploy",
            .site_id = "site-1",
            .node_id = "node/1",
            .payload = std::move(payload),
            .attempt = 2};
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Runs playbooks on this machine. TMPDIR is a folder of the test's own, so that it sees files that
// are left there.
class AnsibleWorkerTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ::setenv("TMPDIR", temporary.c_str(), 1);
        executor.nodes = {{"node/1", {.hostname = "127.0.0.1", .connection = "local"}}};
    }
    void TearDown() override { ::unsetenv("TMPDIR"); }

    void play(const std::string& tasks) {
        executor.playbook = folder.write("play.yml",
                                         "- hosts: all\n"
                                         "  gather_facts: false\n"
                                         "  tasks:\n" +
                                             tasks);
    }
    // Replaces ansible-playbook by a script, to see its input or to end in a rare way.
    void script(const std::string& lines) {
        executor.program = folder.write("playbook.sh", "#!/bin/sh\n" + lines);
        ::chmod(executor.program.c_str(), 0700);
        executor.playbook = "site.yml";
    }
    Outcome run(const Job& job = site_job()) {
        return ansible_worker(executor, leash)->execute(job, context);
    }

    PrivateFolder folder{"ansible-test"};
    std::filesystem::path temporary = [this] {
        std::filesystem::create_directory(folder.path() / "tmp");
        return folder.path() / "tmp";
    }();
    std::shared_ptr<Leash> leash = std::make_shared<Leash>();
    AnsibleExecutor executor{};
    TestContext context{};
};

TEST_F(AnsibleWorkerTest, RunsThePlayWithTheJobsVariablesAndExecutesNoneOfThem) {
    const std::string trap = (folder.path() / "trap").string();
    play(
        "    - debug: {msg: \"{{ inventory_hostname }} {{ node_id }} {{ job_id }} "
        "{{ attempt }} {{ count }}\"}\n"
        "    - set_fact: {joined: \"{{ open }}{{ close }}\", copied: \"{{ deep }}\"}\n"
        "    - debug: {msg: \"{{ evil }} {{ deep.list }} {{ joined }} {{ copied }}\"}\n");
    const std::string touch = "lookup('pipe','touch " + trap + "') }}";

    const Outcome outcome = run(site_job(R"({"count":3,"node_id":"other","evil":"{{ )" + touch +
                                         R"(","open":"{","close":"{ )" + touch +
                                         R"(","deep":{"list":["\u007b{ )" + touch + R"("]}})"));

    EXPECT_EQ(outcome.kind, Outcome::Kind::succeeded) << outcome.error_message;
    EXPECT_TRUE(outcome.result.starts_with(R"({"recap":{"ok":3,"changed":0,)")) << outcome.result;
    EXPECT_TRUE(holds(context.text(), "node_1 node/1 job-7 2 3")) << context.text();
    EXPECT_TRUE(holds(context.text(), "{{ lookup(")) << context.text();
    EXPECT_FALSE(std::filesystem::exists(trap));
    EXPECT_TRUE(std::filesystem::is_empty(temporary)) << "it must leave no files behind";
}

TEST_F(AnsibleWorkerTest, TellsOfAFailedTask) {
    play("    - fail: {msg: the disk is full}\n");

    const Outcome outcome = run();

    EXPECT_EQ(outcome.error_code, "ANSIBLE_HOST_FAILED");
    EXPECT_TRUE(outcome.retryable);
    EXPECT_TRUE(holds(outcome.error_message, "the disk is full")) << outcome.error_message;
    const auto lines = context.lines();
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const test::Line& line) {
        return line.level == Level::error && line.message.starts_with("fatal: [node_1]");
    })) << context.text();
}

TEST_F(AnsibleWorkerTest, TellsOfAHostThatCannotBeReached) {
    executor.nodes["node/1"] = {.hostname = "127.0.0.1", .port = 1, .user = "nobody"};
    play("    - ping:\n");

    const Outcome outcome = run();

    EXPECT_EQ(outcome.error_code, "ANSIBLE_HOST_UNREACHABLE");
    EXPECT_TRUE(outcome.retryable);
    EXPECT_TRUE(holds(outcome.error_message, "UNREACHABLE!")) << outcome.error_message;
}

TEST_F(AnsibleWorkerTest, TellsOfABrokenPlaybookByTheExitCodeOfAnsible) {
    play("    - debug: [\n");

    const Outcome outcome = run();

    // ansible-core ends with 4 here, and so the error is that of 4.
    EXPECT_EQ(outcome.error_code, "ANSIBLE_HOST_UNREACHABLE");
    EXPECT_TRUE(holds(outcome.error_message, "Syntax Error while loading YAML"))
        << outcome.error_message;
}

TEST_F(AnsibleWorkerTest, EndsThePlayWhenTheJobShouldStop) {
    const std::string begun = (folder.path() / "begun").string();
    play("    - shell: \"echo $$ > " + begun + ".new; mv " + begun + ".new " + begun +
         "; exec sleep 77\"\n");
    std::jthread canceler([&] {
        for (int i = 0; i < 1000 && !std::filesystem::exists(begun); ++i) {
            std::this_thread::sleep_for(10ms);
        }
        context.token.request(StopReason::canceled);
    });

    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = run();

    int pid = 0;
    std::ifstream(begun) >> pid;
    ASSERT_GT(pid, 0) << context.text();
    EXPECT_NE(::kill(pid, 0), 0) << "what the play had started must be gone";
    EXPECT_EQ(outcome.kind, Outcome::Kind::canceled) << outcome.error_message;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
    EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

TEST_F(AnsibleWorkerTest, EndsThePlayAtItsOwnLimit) {
    script("echo begun; exec sleep 77\n");
    executor.timeout = 200ms;

    const Outcome outcome = run();

    EXPECT_EQ(outcome.error_code, "ANSIBLE_TIMEOUT");
    EXPECT_TRUE(outcome.retryable);
    EXPECT_EQ(outcome.error_message, "begun\nended after its limit of 200ms");
}

TEST_F(AnsibleWorkerTest, PutsNothingOfThePayloadIntoTheArguments) {
    script(
        "echo \"$#\" \"$1\" \"$3\" \"$5\"; cat \"$2\"; cat \"${4#@}\"; "
        "stat -c %a \"$(dirname \"$2\")\" \"$2\" \"${4#@}\" | tr '\\n' ' '; "
        "echo; echo \"$ANSIBLE_NOCOLOR $ANSIBLE_RETRY_FILES_ENABLED\"\n");

    const Outcome outcome = run(site_job(R"json({"text":"-e a=b; $(id)"})json"));

    EXPECT_EQ(outcome.kind, Outcome::Kind::succeeded);
    EXPECT_EQ(outcome.result, "");
    const auto lines = context.lines();
    ASSERT_EQ(lines.size(), 6u) << context.text();
    EXPECT_EQ(lines[1].message, "5 -i -e site.yml");
    EXPECT_EQ(lines[2].message, R"({"all":{"hosts":{"node_1":{"ansible_host":"127.0.0.1",)"
                                R"("ansible_connection":"local"}}}})");
    EXPECT_EQ(lines[3].message,
              R"({"attempt":2,"job_id":"job-7","job_type":"env_deploy","site_id":"site-1",)"
              R"json("node_id":"node/1","project":"shop","text":"-e a=b; $(id)"})json");
    EXPECT_EQ(lines[4].message, "700 600 600 ");
    EXPECT_EQ(lines[5].message, "1 0");
}

TEST_F(AnsibleWorkerTest, JudgesByTheExitCode) {
    struct Case {
        std::string end{};
        std::string error_code{};
        bool retryable = false;
    };
    for (const Case& expected :
         {Case{"exit 1", "ANSIBLE_PLAY_ERROR", true}, Case{"exit 2", "ANSIBLE_HOST_FAILED", true},
          Case{"exit 3", "ANSIBLE_UNKNOWN_EXIT", false},
          Case{"exit 4", "ANSIBLE_HOST_UNREACHABLE", true},
          Case{"exit 5", "ANSIBLE_SYNTAX_ERROR", false},
          Case{"exit 250", "ANSIBLE_UNEXPECTED_ERROR", false},
          Case{"kill -9 $$", "ANSIBLE_UNKNOWN_EXIT", false}}) {
        std::filesystem::remove(folder.path() / "playbook.sh");
        script(expected.end + "\n");

        const Outcome outcome = run();

        EXPECT_EQ(outcome.kind, Outcome::Kind::failed);
        EXPECT_EQ(outcome.error_code, expected.error_code) << expected.end;
        EXPECT_EQ(outcome.retryable, expected.retryable) << expected.end;
        EXPECT_FALSE(outcome.error_message.empty());
    }
}

TEST_F(AnsibleWorkerTest, HasNotSucceededWhenItEndsBecauseOfItsLease) {
    script("trap 'exit 0' TERM; while :; do sleep 0.02; done");
    context.until = TestContext::boot_time() + 700ms;
    const Outcome outcome = run();

    EXPECT_EQ(outcome.error_code, "LEASE_NOT_RENEWED");
    EXPECT_TRUE(outcome.retryable);
}

TEST_F(AnsibleWorkerTest, NeedsANodeThatIsKnown) {
    Job job = site_job();
    job.node_id = "";
    const Outcome none = run(job);
    job.node_id = "node-2";
    const Outcome unknown = run(job);

    EXPECT_EQ(none.error_code, "NODE_REQUIRED");
    EXPECT_FALSE(none.retryable);
    EXPECT_EQ(unknown.error_code, "NODE_UNKNOWN");
    EXPECT_FALSE(unknown.retryable);
    EXPECT_EQ(unknown.error_message, R"(the configuration has no node "node-2"; it has node/1)");
}

TEST_F(AnsibleWorkerTest, AsksForNodesThatTheConfigurationDoesNotHave) {
    script("cat \"$2\"\n");
    std::vector<std::string> asked;
    const FindNode find_node = [&](const Job& job) -> Result<AnsibleNode> {
        asked.push_back(job.node_id);
        if (job.node_id == "away") return Error{ErrorCode::unavailable, "no answer", ""};
        if (job.node_id != "recorded") return Error{ErrorCode::not_found, "no such node", ""};
        return AnsibleNode{.hostname = "recorded.example.com", .port = 2222};
    };
    const auto run_on = [&](const std::string& node) {
        Job job = site_job();
        job.node_id = node;
        return ansible_worker(executor, leash, find_node)->execute(job, context);
    };

    EXPECT_TRUE(run_on("node/1").error_code.empty());
    EXPECT_TRUE(asked.empty()) << "what is configured is not asked for";
    EXPECT_TRUE(run_on("recorded").error_code.empty());
    const Outcome unknown = run_on("unknown");
    const Outcome away = run_on("away");

    EXPECT_EQ(asked, (std::vector<std::string>{"recorded", "unknown", "away"}));
    EXPECT_EQ(unknown.error_code, "NODE_UNKNOWN");
    EXPECT_FALSE(unknown.retryable);
    EXPECT_EQ(away.error_code, "NODE_LOOKUP_FAILED");
    EXPECT_TRUE(away.retryable);
}

TEST_F(AnsibleWorkerTest, SaysWhenThereIsNoAnsible) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "this sanitizer makes fork of vfork, so that the leash cannot know";
#endif
    executor.program = "/nowhere/ansible-playbook";
    executor.playbook = "site.yml";

    const Outcome outcome = run();

    EXPECT_EQ(outcome.error_code, "COMMAND_NOT_STARTED");
    EXPECT_TRUE(holds(outcome.error_message, "/nowhere/ansible-playbook")) << outcome.error_message;
}

}  // namespace run_ansible_test
}  // namespace sluice::worker
