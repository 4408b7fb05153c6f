#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace cli_usage_test {

TEST(CliUsage, NamesTheNearestToATypingError) {
    const std::vector<std::pair<Words, std::string>> cases{
        {{"jbo", "list"}, "did you mean \"job\"?"},
        {{"job", "lst"}, "did you mean \"list\"?"},
        {{"job", "list", "--stat", "failed"}, "did you mean \"--state\"?"},
        {{"run", "x", "--prioritty=3"}, "did you mean \"--priority\"?"},
        {{"worker", "lits"}, "did you mean \"list\"?"},
        {{"completion", "bsh"}, "did you mean \"bash\"?"},
        {{"job", "get", "a", "b"}, "no further argument \"b\""},
        {{"job", "get"}, "ID is required"},
        {{"run"}, "TYPE is required"},
        {{"foo", "run", "demo.hello"}, "there is no command \"sluice foo\""},
        {{"job", "rerun", "@last"}, "did you mean \"replay\"?"},
        {{"job", "show", "@last"}, "did you mean \"get\"?"},
    };
    for (const auto& [words, message] : cases) {
        const Ended ended = run_sluice(words);
        EXPECT_EQ(ended.code, 2) << message;
        EXPECT_TRUE(ended.errors.starts_with("sluice: ")) << ended.errors;
        EXPECT_TRUE(has(ended.errors, message)) << ended.errors;
        EXPECT_EQ(ended.output, "");
    }
}

TEST(CliUsage, ShowsItsHelpWhenNoCommandIsGiven) {
    for (const Words& words : std::vector<Words>{{}, {"job"}, {"worker"}}) {
        const Ended ended = run_sluice(words);
        EXPECT_EQ(ended.code, 2);
        EXPECT_TRUE(has(ended.errors, "Usage: sluice " + (words.empty() ? "" : words[0] + " ")))
            << ended.errors;
        EXPECT_EQ(ended.output, "");
    }
}

TEST(CliUsage, EveryCommandHelpsWithExamples) {
    for (const Words& command : std::vector<Words>{{"run"},
                                                   {"job", "list"},
                                                   {"job", "get"},
                                                   {"job", "logs"},
                                                   {"job", "wait"},
                                                   {"job", "watch"},
                                                   {"job", "cancel"},
                                                   {"job", "replay"},
                                                   {"job", "explain"},
                                                   {"job", "events"},
                                                   {"worker", "list"},
                                                   {"completion"}}) {
        Words words = command;
        words.push_back("--help");
        const Ended ended = run_sluice(words);
        EXPECT_EQ(ended.code, 0);
        EXPECT_TRUE(has(ended.output, "Examples:\n  ")) << ended.output;
        EXPECT_TRUE(has(ended.output, "sluice " + command.back()) ||
                    has(ended.output, "sluice " + command.front()))
            << ended.output;
    }
}

TEST(CliUsage, SaysWhenItsOutputCannotBeWritten) {
    Process shell({"/bin/sh", "-c", SLUICE_BINARY " completion bash > /dev/full"});
    EXPECT_EQ(shell.wait(Millis(10'000)), 1);
    EXPECT_TRUE(has(shell.errors(), "cannot write")) << shell.errors();
}

TEST(CliUsage, TheManualPageIsWellFormed) {
    const Ended page = run_sluice({"__man"});
    ASSERT_EQ(page.code, 0);
    for (const char* part : {".TH SLUICE 1", ".SS sluice run TYPE", ".SS sluice job wait ID...",
                             "\\fB\\-\\-priority\\fR \\fIN\\fR", ".SH EXIT STATUS", "SLUICE_TOKEN",
                             ".SH COMMON FLAGS"}) {
        EXPECT_TRUE(has(page.output, part)) << part;
    }
    if (access("/usr/bin/groff", X_OK) != 0) GTEST_SKIP() << "groff is not installed";
    const TempFolder folder;
    const std::string path = (folder.path() / "sluice.1").string();
    std::ofstream(path) << page.output;
    Process groff({"/usr/bin/groff", "-man", "-ww", "-z", "-Tutf8", path});
    EXPECT_EQ(groff.wait(Millis(10'000)), 0);
    EXPECT_EQ(groff.errors(), "");
}

}  // namespace cli_usage_test
}  // namespace sluice::e2e
