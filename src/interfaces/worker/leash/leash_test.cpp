#include "interfaces/worker/leash/leash.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "client/link/boot_time.hpp"
#include "interfaces/worker/leash/descriptor.hpp"
#include "support/is_over.hpp"

namespace sluice::worker {
namespace leash_test {

using namespace std::chrono_literals;
using client::boot_now;

Command shell(const std::string& script) {
    return {.argv = {"/bin/sh", "-c", script}};
}

// Waits for the end, at most ten seconds.
Exit wait_for(Leash::Child& child) {
    pollfd ready{child.descriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, 10'000), 1) << "the command does not end";
    return child.ended().value_or(Exit{});
}

bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds patience = 5s) {
    const auto deadline = boot_now() + patience;
    while (!holds()) {
        if (boot_now() > deadline) return false;
        std::this_thread::sleep_for(2ms);
    }
    return true;
}

std::string read_all(int descriptor) {
    std::string all;
    char bytes[4096];
    pollfd ready{descriptor, POLLIN, 0};
    while (::poll(&ready, 1, 5000) == 1) {
        const ssize_t count = ::read(descriptor, bytes, sizeof bytes);
        if (count <= 0) break;
        all.append(bytes, static_cast<std::size_t>(count));
    }
    return all;
}

// The leash processes of this process.
std::vector<pid_t> leashes() {
    std::vector<pid_t> found;
    std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    for (pid_t pid = 0; children >> pid;) found.push_back(pid);
    return found;
}

class LeashTest : public testing::Test {
  protected:
    // Runs the command to its end and returns its output.
    std::string output_of(Command command) {
        Pipe pipe = make_pipe();
        command.output = pipe.writer.get();
        Leash::Child child = start(command);
        pipe.writer.reset();
        std::string all = read_all(pipe.reader.get());
        EXPECT_EQ(wait_for(child).code, 0) << all;
        return all;
    }

    Leash::Child start(const Command& command) {
        return leash.start(command, boot_now() + 30s, 1s);
    }

    // Runs a script that prints process ids and goes on, and returns those.
    std::vector<pid_t> pids_of(const std::string& script, std::size_t count,
                               std::optional<Leash::Child>& child,
                               std::chrono::milliseconds time = 30s,
                               std::chrono::milliseconds notice = 0ms) {
        Pipe pipe = make_pipe();
        Command command = shell(script);
        command.output = pipe.writer.get();
        child.emplace(leash.start(command, boot_now() + time, notice));
        pipe.writer.reset();
        std::string text;
        while (std::count(text.begin(), text.end(), '\n') < static_cast<std::ptrdiff_t>(count)) {
            pollfd ready{pipe.reader.get(), POLLIN, 0};
            char bytes[256];
            if (::poll(&ready, 1, 5000) != 1) break;
            const ssize_t got = ::read(pipe.reader.get(), bytes, sizeof bytes);
            if (got <= 0) break;
            text.append(bytes, static_cast<std::size_t>(got));
        }
        std::istringstream numbers(text);
        std::vector<pid_t> pids{std::istream_iterator<pid_t>(numbers), {}};
        EXPECT_EQ(pids.size(), count) << text;
        return pids;
    }

    Leash leash{};
};

TEST_F(LeashTest, TellsHowACommandEnded) {
    Leash::Child good = start(shell("exit 0"));
    Leash::Child bad = start(shell("exit 75"));
    Leash::Child shot = start(shell("kill -SEGV $$"));

    EXPECT_EQ(wait_for(good).code, 0);
    EXPECT_EQ(wait_for(bad).code, 75);
    EXPECT_EQ(wait_for(shot).signal, SIGSEGV);
    EXPECT_TRUE(good.ended()->not_started.empty());
}

TEST_F(LeashTest, SaysWhyACommandCannotBeStarted) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "this sanitizer makes fork of vfork, so that the leash cannot know";
#endif
    const std::filesystem::path script =
        std::filesystem::temp_directory_path() / ("leash-" + std::to_string(::getpid()));
    std::ofstream(script) << "echo no interpreter line\n";
    Command nowhere = shell("true");
    nowhere.directory = "/nowhere/at/all";
    const auto why = [&](const Command& command) {
        Leash::Child child = start(command);
        const Exit exit = wait_for(child);
        EXPECT_FALSE(exit.may_start_later);
        return exit.not_started;
    };

    EXPECT_NE(why({.argv = {"/nowhere/at/all"}}).find("No such file"), std::string::npos);
    EXPECT_NE(why({.argv = {"no-such-command"}}).find("PATH"), std::string::npos);
    EXPECT_NE(why({.argv = {script}}).find("Permission denied"), std::string::npos);
    EXPECT_NE(why(nowhere).find("directory /nowhere/at/all"), std::string::npos);
    ::chmod(script.c_str(), 0700);
    EXPECT_NE(why({.argv = {script}}).find("#!/bin/sh"), std::string::npos);
    std::filesystem::remove(script);
}

TEST_F(LeashTest, PassesArgumentsEnvironmentAndDirectoryAsTheyAre) {
    Command command{.argv = {"sh", "-c", "printf '%s|' \"$@\" \"$ONE\" \"$TWO\"; pwd", "sh", "a b",
                             "$HOME", "", "*\n"},
                    .environment = {{"ONE", "first"}, {"TWO", "x=y z"}, {"ONE", "last"}},
                    .directory = "/usr"};

    EXPECT_EQ(output_of(command), "a b|$HOME||*\n|last|x=y z|/usr\n");
}

TEST_F(LeashTest, TakesArgumentsLargerThanAMessage) {
    const std::string large(100'000, 'x');
    Command command{.argv = {"sh", "-c", "echo ${#1} ${#BIG} $#", "sh"},
                    .environment = {{"BIG", large}}};
    for (int i = 0; i < 6; ++i) command.argv.push_back(large);

    EXPECT_EQ(output_of(command), "100000 100000 6\n");
}

TEST_F(LeashTest, GivesACommandItsFourDescriptorsAndNoOthers) {
    const Descriptor leaky(::dup(0));  // not close-on-exec
    const Descriptor also_leaky(::dup2(0, 77));
    const std::string list = "ls -1 /proc/self/fd | sort -n | tr '\\n' ' '";
    Pipe result = make_pipe();
    Command with_result = shell(list);
    with_result.result = result.writer.get();

    // ls has one more, for the folder that it reads.
    EXPECT_EQ(output_of(shell(list)), "0 1 2 3 ");
    EXPECT_EQ(output_of(with_result), "0 1 2 3 4 ");
    EXPECT_EQ(output_of(shell("readlink /proc/self/fd/0 /proc/self/fd/2")),
              "/dev/null\n/dev/null\n");
}

TEST_F(LeashTest, GivesACommandDefaultSignalsAndAGroupOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "this sanitizer keeps signals to itself";
#endif
    const std::string status = output_of({.argv = {"cat", "/proc/self/status"}});
    EXPECT_NE(status.find("SigBlk:\t0000000000000000"), std::string::npos) << status;
    // 32 and 33 are the C library's own, and it ignores them in every process that it starts.
    EXPECT_NE(status.find("SigIgn:\t0000000180000000"), std::string::npos) << status;

    const std::string stat = output_of(shell("read -r stat < /proc/$$/stat; echo $stat"));
    std::istringstream fields(stat.substr(stat.rfind(')') + 1));
    std::string state;
    pid_t parent = 0, group = 0, session = 0;
    fields >> state >> parent >> group >> session;
    EXPECT_EQ(group, std::stoi(stat));
    EXPECT_EQ(session, parent);
    EXPECT_NE(session, ::getsid(0));
}

TEST(Leash, GivesCommandsOnlyTheUsualVariablesOfItsOwn) {
    ::setenv("SLUICE_TOKEN", "secret-of-the-worker", 1);
    ::setenv("SLUICE_STORE", "postgres://me:secret-of-the-worker@db/x", 1);
    ::setenv("LD_LEASH_TEST", "for the leash alone", 1);
    ::setenv("LC_LEASH_TEST", "usual", 1);
    Leash leash;
    for (const char* name : {"SLUICE_TOKEN", "SLUICE_STORE", "LD_LEASH_TEST", "LC_LEASH_TEST"}) {
        ::unsetenv(name);
    }
    Pipe pipe = make_pipe();
    Command command = shell(
        "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c "
        "secret-of-the-work[e]r; env | grep -e SLUICE_ -e LEASH_TEST | LC_ALL=C sort");
    command.environment = {{"SLUICE_JOB_ID", "1"}};
    command.output = pipe.writer.get();
    Leash::Child child = leash.start(command, boot_now() + 30s, 1s);
    pipe.writer.reset();

    EXPECT_EQ(read_all(pipe.reader.get()), "0\nLC_LEASH_TEST=usual\nSLUICE_JOB_ID=1\n");
}

TEST_F(LeashTest, EndsAGroupWhenItsTimeIsUp) {
    std::optional<Leash::Child> child;
    // The shell and its child ignore SIGTERM, and the child is not waited for.
    const std::string script =
        "trap '' TERM; sh -c 'trap \"\" TERM; echo $$; while :; do sleep "
        "0.05; done' & echo $$; while :; do sleep 0.05; done";
    const auto start = boot_now();
    const auto pids = pids_of(script, 2, child, 400ms, 200ms);

    EXPECT_EQ(wait_for(*child).signal, SIGKILL);

    EXPECT_GE(boot_now() - start, 390ms);
    EXPECT_LE(boot_now() - start, 2s);
    for (const pid_t pid : pids) EXPECT_TRUE(is_over(pid)) << pid;
}

TEST_F(LeashTest, SendsSigtermBeforeItKills) {
    Leash::Child child = leash.start(shell("trap 'exit 7' TERM; while :; do sleep 0.01; done"),
                                     boot_now() + 10s, 9'800ms);

    EXPECT_EQ(wait_for(child).code, 7);
}

TEST_F(LeashTest, RenewalsKeepACommandAlivePastItsFirstDeadline) {
    const auto start = boot_now();
    Leash::Child child = leash.start(shell("sleep 0.9; exit 4"), boot_now() + 300ms, 0ms);
    while (!child.ended().has_value() && boot_now() - start < 5s) {
        child.must_end_by(boot_now() + 300ms, 0ms);
        std::this_thread::sleep_for(50ms);
    }

    EXPECT_EQ(wait_for(child).code, 4);
    EXPECT_GE(boot_now() - start, 850ms);
}

TEST_F(LeashTest, AStopIsNotUndoneByARenewal) {
    std::optional<Leash::Child> child;
    pids_of("trap '' TERM; echo $$; while :; do sleep 0.05; done", 1, child);
    child->stop(200ms);
    child->must_end_by(boot_now() + 60s, 0ms);

    EXPECT_EQ(wait_for(*child).signal, SIGKILL);
}

TEST_F(LeashTest, WhatIsLeftOfAGroupEndsWithItsCommand) {
    std::optional<Leash::Child> child;
    const auto pids =
        pids_of("sh -c 'trap \"\" HUP TERM; echo $$; exec sleep 60' & sleep 0.1; exit 3", 1, child);

    EXPECT_EQ(wait_for(*child).code, 3);

    EXPECT_TRUE(is_over(pids[0]));
}

TEST_F(LeashTest, StopsCommandsThatAreStopped) {
    std::optional<Leash::Child> child;
    const auto pids =
        pids_of("trap 'exit 9' TERM; echo $$; while :; do sleep 0.01; done", 1, child);
    ::kill(pids[0], SIGSTOP);
    child->stop(5s);

    EXPECT_EQ(wait_for(*child).code, 9);
}

TEST_F(LeashTest, DroppingAChildEndsItsGroup) {
    std::optional<Leash::Child> child;
    const auto pids = pids_of("sleep 60 & echo $!; echo $$; wait", 2, child);
    child.reset();

    for (const pid_t pid : pids) EXPECT_TRUE(eventually([&] { return is_over(pid); })) << pid;
}

TEST(Leash, TakesEverythingAlongWhenItGoes) {
    std::vector<pid_t> before = leashes();
    auto leash = std::make_unique<Leash>();
    Pipe pipe = make_pipe();
    Command command = shell("echo $$; exec sleep 60");
    command.output = pipe.writer.get();
    Leash::Child child = leash->start(command, boot_now() + 30s, 1s);
    ASSERT_TRUE(eventually([&] {
        pollfd ready{pipe.reader.get(), POLLIN, 0};
        return ::poll(&ready, 1, 0) == 1;
    }));
    leash.reset();

    EXPECT_EQ(wait_for(child).signal, SIGKILL);
    EXPECT_EQ(leashes(), before);
}

TEST_F(LeashTest, WhenTheLeashDiesItsGroupsEndAndTheNextCommandRuns) {
    std::optional<Leash::Child> child;
    const auto pids =
        pids_of("sh -c 'trap \"\" TERM; echo $$; exec sleep 60' & echo $$; wait", 2, child);
    ASSERT_EQ(leashes().size(), 1u);
    ::kill(leashes()[0], SIGKILL);

    EXPECT_EQ(wait_for(*child).signal, SIGKILL);
    for (const pid_t pid : pids) EXPECT_TRUE(eventually([&] { return is_over(pid); })) << pid;
    EXPECT_EQ(output_of(shell("echo again")), "again\n");
}

TEST_F(LeashTest, AStoppedLeashIsReplaced) {
    std::optional<Leash::Child> child;
    const auto pids = pids_of("echo $$; exec sleep 60", 1, child);
    ASSERT_EQ(leashes().size(), 1u);
    ::kill(leashes()[0], SIGSTOP);
    const auto start = boot_now();
    child->stop(0ms);

    const Exit exit = wait_for(*child);
    EXPECT_EQ(exit.signal, SIGKILL) << exit.code << exit.not_started;
    EXPECT_LE(boot_now() - start, 6s);
    EXPECT_TRUE(eventually([&] { return is_over(pids[0]); }));
    EXPECT_EQ(output_of(shell("echo again")), "again\n");
}

TEST_F(LeashTest, HoldsManyCommandsAtOnce) {
    std::vector<Leash::Child> children;
    for (int i = 0; i < 200; ++i) {
        children.push_back(start(shell("sleep 0.3; exit " + std::to_string(i % 100))));
    }

    for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(wait_for(children[static_cast<std::size_t>(i)]).code, i % 100);
    }
}

TEST_F(LeashTest, IsNotReachedByASignalToTheWorkersGroup) {
    ASSERT_EQ(leashes().size(), 1u);
    EXPECT_NE(::getpgid(leashes()[0]), ::getpgid(0));
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::kill(leashes()[0], number);

    EXPECT_EQ(output_of(shell("echo lives")), "lives\n");
    EXPECT_EQ(leashes().size(), 1u);
}

}  // namespace leash_test
}  // namespace sluice::worker
