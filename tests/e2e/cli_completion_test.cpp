#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace cli_completion_test {

class CliCompletion : public CliTest {
  protected:
    // The words that may replace the last one.
    std::vector<std::string> candidates(Words words) const {
        words.insert(words.begin(), {"__complete", ":"});
        const Ended ended = run_sluice(words);
        EXPECT_EQ(ended.code, 0) << ended.errors;
        EXPECT_EQ(ended.errors, "");
        std::vector<std::string> out;
        for (const std::string& line : lines_of(ended.output)) {
            out.push_back(line.substr(0, line.find('\t')));
        }
        return out;
    }

    // The output of a shell that runs this text with a sluice in its path.
    std::string in_shell(const std::string& shell, const Words& flags, const std::string& text) {
        const std::string link = (folder.path() / "sluice").string();
        if (access(link.c_str(), F_OK) != 0) {
            EXPECT_EQ(symlink(SLUICE_BINARY, link.c_str()), 0);
        }
        Words command{shell};
        command.insert(command.end(), flags.begin(), flags.end());
        command.insert(command.end(), {"-c", "PATH=" + folder.path().string() + ":$PATH\n" + text});
        if (has(shell, "fish")) {
            command.back() = "set -x PATH " + folder.path().string() + " $PATH\n" + text;
        }
        Process process(command);
        EXPECT_EQ(process.wait(Millis(20'000)), 0) << process.errors();
        return process.output();
    }
};

bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

TEST_F(CliCompletion, KnowsCommandsFlagsAndValues) {
    EXPECT_EQ(candidates({"jo"}), Words{"job"});
    EXPECT_TRUE(contains(candidates({""}), "run"));
    EXPECT_FALSE(contains(candidates({""}), "__complete"));
    EXPECT_EQ(candidates({"job", "ca"}), Words{"cancel"});
    EXPECT_EQ(candidates({"job", "list", "--sta"}), Words{"--state"});
    EXPECT_EQ(candidates({"job", "list", "--state", "ti"}), Words{"timed_out"});
    EXPECT_EQ(candidates({"job", "list", "--state", "failed,ti"}), Words{"failed,timed_out"});
    EXPECT_EQ(candidates({"job", "list", "--state=ti"}), Words{"--state=timed_out"});
    EXPECT_EQ(candidates({"job", "list", "-o", "js"}), (Words{"json", "jsonl"}));
    EXPECT_EQ(candidates({"job", "list", "--fields", "id,created"}), Words{"id,created_at"});
    EXPECT_EQ(candidates({"job", "wait", "x", "--for", "state=can"}), Words{"state=canceled"});
    EXPECT_EQ(candidates({"completion", "f"}), Words{"fish"});
    EXPECT_EQ(candidates({"run", "demo.h"}), Words{"demo.hello"});
    EXPECT_EQ(candidates({"nonsense", "--nonsense", "x"}), Words{});
    EXPECT_EQ(candidates({}).size(), candidates({""}).size());
}

TEST_F(CliCompletion, KnowsTheJobsOfTheEngine) {
    const std::string id = api.submit_id({{"type", fresh_name("type")}});

    EXPECT_EQ(candidates({"job", "get", "--server", server(), id.substr(0, 20)}), Words{id});
    EXPECT_TRUE(contains(candidates({"job", "get", "--server", server(), ""}), "@last"));
    EXPECT_TRUE(contains(candidates({"job", "cancel", "--server", server(), "x", ""}), id));
    EXPECT_FALSE(contains(candidates({"job", "get", "--server", server(), "x", ""}), id))
        << "it takes one job only";
    EXPECT_TRUE(
        contains(candidates({"run", "x", "--server=" + server(), "--queue", ""}), api.queue()));
    EXPECT_EQ(candidates({"job", "get", "--server", "http://127.0.0.1:1", ""}), Words{"@last"});
}

TEST_F(CliCompletion, OffersNoWordsThatAShellWouldObey) {
    const std::string name = fresh_name("type");
    for (const char* end : {"", "$(id)", ";id", "\u202e", " x", "`id`"}) {
        api.submit_id({{"type", name + end}});
    }

    EXPECT_EQ(candidates({"run", "--server", server(), name}), Words{name});
    EXPECT_EQ(candidates({"work", "--server", server(), "--types", name}), Words{name});
}

TEST_F(CliCompletion, KnowsFiles) {
    std::ofstream(folder.path() / "payload.json") << "1";
    const std::string mark = "@";

    EXPECT_EQ(candidates({"run", "x", "--data", mark + (folder.path() / "pay").string()}),
              Words{mark + (folder.path() / "payload.json").string()});
}

TEST_F(CliCompletion, WorksInBash) {
    const auto completed = [&](const std::string& line, const std::string& words, int last) {
        return in_shell("/bin/bash", {"--norc"},
                        "source <(sluice completion bash)\n"
                        "COMP_LINE='" +
                            line + "' COMP_POINT=" + std::to_string(line.size()) + " COMP_WORDS=(" +
                            words + ") COMP_CWORD=" + std::to_string(last) +
                            "\n_sluice sluice\nprintf '%s\\n' \"${COMPREPLY[@]}\"");
    };
    EXPECT_EQ(completed("sluice jo", "sluice jo", 1), "job\n");
    EXPECT_EQ(completed("sluice job list --state=ti", "sluice job list --state = ti", 5),
              "timed_out\n");
    EXPECT_EQ(completed("sluice job get @la", "sluice job get @ la", 4), "last\n");
    EXPECT_EQ(completed("sluice job get @la", "sluice job get @la", 3), "@last\n");
    EXPECT_EQ(completed("sluice completion ", "sluice completion ''", 2), "bash\nzsh\nfish\n");
    EXPECT_TRUE(
        has(completed("sluice job list --state=", "sluice job list --state =", 4), "running\n"));
    EXPECT_EQ(completed("sluice job list -o  jsonl --state  fai",
                        "sluice job list -o jsonl --state fai", 6),
              "failed\n");
}

TEST_F(CliCompletion, WorksInZsh) {
    if (access("/usr/bin/zsh", X_OK) != 0) GTEST_SKIP() << "zsh is not installed";
    // Outside of a line editor _describe cannot run, so that it is replaced by one that prints.
    const auto completed = [&](const std::string& words) {
        return in_shell("/usr/bin/zsh", {"-f"},
                        "autoload -U compinit && compinit -D -u\n"
                        "source <(sluice completion zsh)\n"
                        "print -r -- ${_comps[sluice]}\n"
                        "_describe() { print -rl -- ${(P)3} }\n"
                        "words=(" +
                            words + ") CURRENT=${#words}\n_sluice");
    };
    EXPECT_EQ(completed("sluice jo"), "_sluice\njob:Look at jobs and change them\n");
    EXPECT_EQ(completed("sluice job list --state ti"), "_sluice\ntimed_out\n");
}

TEST_F(CliCompletion, WorksInFish) {
    if (access("/usr/bin/fish", X_OK) != 0) GTEST_SKIP() << "fish is not installed";
    const auto completed = [&](const std::string& line) {
        return in_shell("/usr/bin/fish", {"--no-config"},
                        "sluice completion fish | source\ncomplete -C '" + line + "'");
    };
    EXPECT_EQ(completed("sluice jo"), "job\tLook at jobs and change them\n");
    EXPECT_EQ(completed("sluice job list --state ti"), "timed_out\n");
    EXPECT_TRUE(has(completed("sluice job "), "explain\t"));
}

}  // namespace cli_completion_test
}  // namespace sluice::e2e
