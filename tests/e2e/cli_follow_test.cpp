#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace cli_follow_test {

class CliFollow : public CliTest {
  protected:
    Words follow_words() const {
        return with_server({"run", "task", "--queue", api.queue(), "--follow"});
    }
};

TEST_F(CliFollow, ShowsAJobFromItsQueueToItsEndOnATerminal) {
    Terminal terminal(follow_words());
    EXPECT_TRUE(terminal.shows("waiting: no worker asked for queue " + api.queue()))
        << terminal.written();

    const Json lease = api.claim_one();
    EXPECT_TRUE(terminal.shows("attempt 1/3 on worker")) << terminal.written();
    expect_ok(api.heartbeat(lease, {{"progress", 40}, {"message", "uploading"}}));
    EXPECT_TRUE(terminal.shows("████████░░░░░░░░░░░░  40%")) << terminal.written();
    EXPECT_TRUE(terminal.shows("uploading")) << terminal.written();
    expect_ok(api.log(lease, {Fields{{"level", "error"}, {"message", "no disk left"}}}));
    EXPECT_TRUE(terminal.shows("no disk left")) << terminal.written();
    expect_ok(api.report(lease, {{"outcome", "succeeded"}, {"result", Fields{{"n", 1}}}}));

    EXPECT_EQ(terminal.wait(), 0);
    const std::string screen = terminal.screen();
    EXPECT_TRUE(has(screen, "ERROR no disk left\n")) << screen;
    EXPECT_TRUE(has(screen, "✔ succeeded in ")) << screen;
    EXPECT_TRUE(has(screen, "{\"n\":1}\n")) << screen;
    EXPECT_FALSE(has(screen, "waiting:")) << "the line that is drawn over must be gone: " << screen;
}

TEST_F(CliFollow, GivesAResultNoPowerOverTheTerminal) {
    const std::string id = succeeded_job("{\"a\":\"\u009b2J \u202e\"}");
    for (const Words& words : {Words{"job", "watch", id}, Words{"job", "get", id, "--json"}}) {
        Terminal terminal(with_server(words));
        EXPECT_EQ(terminal.wait(), 0);
        EXPECT_TRUE(has(terminal.written(), R"({"a":"\u009b2J \u202e"})")) << terminal.written();
        EXPECT_FALSE(has(terminal.written(), "\u009b")) << terminal.written();
    }
    EXPECT_TRUE(has(cli({"job", "get", id, "--json"}).output, "\u009b2J")) << "as it was reported";
}

TEST_F(CliFollow, TalksOnStandardErrorAndKeepsStandardOutputForTheResult) {
    Process process([&] {
        Words words = follow_words();
        words.insert(words.begin(), SLUICE_BINARY);
        return words;
    }());
    const Json first = api.claim_one({{"wait_ms", 10'000}});
    expect_ok(api.log(first, {Fields{{"message", "one"}}, Fields{{"message", "two"}}}));
    expect_ok(api.release(first));
    const Json second = api.claim_one({{"wait_ms", 10'000}});
    expect_ok(api.report(second, {{"outcome", "succeeded"}, {"result", "done"}}));

    ASSERT_EQ(process.wait(Millis(10'000)), 0);
    EXPECT_EQ(process.output(), "\"done\"\n");
    const std::string& talk = process.errors();
    EXPECT_LT(talk.find("attempt 1/3 started"), talk.find(" one\n")) << talk;
    EXPECT_LT(talk.find(" one\n"), talk.find(" two\n")) << talk;
    EXPECT_LT(talk.find(" two\n"), talk.find("handed the job back")) << talk;
    EXPECT_TRUE(has(talk, "succeeded in")) << talk;
    EXPECT_FALSE(has(talk, "\x1b")) << "no colours and no redrawing on a pipe: " << talk;
}

TEST_F(CliFollow, SaysOnceOnAPipeThatWorkersAreBusy) {
    api.claim();  // the worker has asked, so that the reason says how long ago
    const Ended ended =
        cli({"run", "task", "--queue", api.queue(), "--follow", "--wait-timeout", "2500ms"});

    EXPECT_EQ(ended.code, 7);
    const std::vector<std::string> lines = lines_of(ended.errors);
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                            [](const std::string& line) { return line.starts_with("queued: "); }),
              1)
        << ended.errors;
    EXPECT_TRUE(has(ended.errors, "s ago: busy, or gone")) << ended.errors;
}

TEST_F(CliFollow, TellsOfARetry) {
    // Of a type whose retry waits for a minute: others may be tried again at once.
    Terminal terminal(with_server({"run", "health_check", "--site", api.queue(), "--node",
                                   api.queue(), "--queue", api.queue(), "--follow"}));
    expect_ok(api.report(
        api.claim_one({{"wait_ms", 10'000}}),
        {{"outcome", "failed"}, {"error_code", "E_HELM"}, {"error_message", "no chart"}}));

    EXPECT_TRUE(terminal.shows("attempt 1/3 failed: E_HELM: no chart, retry in"))
        << terminal.written();
    EXPECT_TRUE(terminal.shows("waiting: attempt 1 of 3 ended with E_HELM")) << terminal.written();
}

TEST_F(CliFollow, DetachesAtCtrlCAndTheJobGoesOn) {
    Terminal terminal(follow_words());
    ASSERT_TRUE(terminal.shows("queued"));
    terminal.type("\x03");

    EXPECT_EQ(terminal.wait(), 130);
    EXPECT_TRUE(has(terminal.screen(), "the job goes on")) << terminal.screen();
    expect_ok(api.succeed(api.claim_one()));
}

TEST_F(CliFollow, ShowsJobTextWithoutPowerOverTheTerminal) {
    Terminal terminal(follow_words());
    const Json lease = api.claim_one({{"wait_ms", 10'000}});
    expect_ok(api.log(lease, {Fields{{"message", "a\x1b[31mred\x1b[0m \x1b]0;title\x07 \r b\nc"}},
                              Fields{{"message", "turn\u202eed"}}}));
    expect_ok(api.report(
        lease,
        {{"outcome", "failed"}, {"retryable", false}, {"error_message", "bad\x1b[2Jthing"}}));

    EXPECT_EQ(terminal.wait(), 3);
    EXPECT_TRUE(has(terminal.screen(), "ared \\x1b]0;title\\x07 \\r b\n    c\n"))
        << terminal.screen();
    EXPECT_TRUE(has(terminal.screen(), "turn\\u202eed")) << terminal.screen();
    EXPECT_TRUE(has(terminal.screen(), "bad\\x1b[2Jthing")) << terminal.screen();
    EXPECT_FALSE(has(terminal.written(), "\x1b[2J"));
    EXPECT_FALSE(has(terminal.written(), "\x1b]0"));
}

TEST_F(CliFollow, UsesNoColoursWhenToldNotTo) {
    const std::string id = failed_job();
    const auto written = [&](const Words& more, const TerminalOptions& options) {
        Words words = with_server({"job", "watch", id});
        words.insert(words.end(), more.begin(), more.end());
        Terminal terminal(words, options);
        EXPECT_EQ(terminal.wait(), 3);
        return terminal.written();
    };
    EXPECT_TRUE(has(written({}, {}), "\x1b[31m"));
    EXPECT_FALSE(has(written({"--no-color"}, {}), "\x1b[3"));
    EXPECT_FALSE(has(written({}, {.environment = {{"NO_COLOR", "1"}}}), "\x1b[3"));
    EXPECT_FALSE(has(written({}, {.environment = {{"TERM", "dumb"}}}), "\x1b"));
}

TEST_F(CliFollow, WatchesAJobThatIsThereAlready) {
    const std::string id = api.submit_id();
    Terminal terminal(with_server({"job", "watch", id.substr(0, 22)}));
    ASSERT_TRUE(terminal.shows("queued"));
    expect_ok(api.cancel(id, {{"reason", "not needed"}}));

    EXPECT_EQ(terminal.wait(), 8);
    EXPECT_TRUE(has(terminal.screen(), "canceled in")) << terminal.screen();
}

TEST_F(CliFollow, OutlivesItsTimeWithoutTheJob) {
    const std::string id = api.submit_id();

    EXPECT_EQ(cli({"job", "watch", id, "--wait-timeout", "100ms"}).code, 7);
    EXPECT_EQ(api.state(id), "queued");
}

}  // namespace cli_follow_test
}  // namespace sluice::e2e
