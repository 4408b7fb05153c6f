#include <gtest/gtest.h>

#include <thread>

#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace cli_logs_test {

class CliLogs : public CliTest {
  protected:
    // Lines `from`, `from`+1, … up to `to`.
    void write_lines(const Json& lease, int from, int to) {
        List entries;
        for (int i = from; i <= to; ++i) {
            entries.push_back(Fields{{"message", "line " + std::to_string(i)}});
        }
        expect_ok(api.log(lease, entries));
    }

    static std::string expected_lines(int from, int to) {
        std::string out;
        for (int i = from; i <= to; ++i) out += "line " + std::to_string(i) + "\n";
        return out;
    }
};

TEST_F(CliLogs, ShowsALog) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    for (int i = 0; i < 3; ++i) write_lines(lease, i * 500 + 1, (i + 1) * 500);

    EXPECT_EQ(cli({"job", "logs", id}).output, expected_lines(1, 1500));
    EXPECT_EQ(cli({"job", "logs", id, "--tail", "2"}).output, expected_lines(1499, 1500));
    EXPECT_EQ(cli({"job", "logs", id, "--tail", "0"}).output, "");
    EXPECT_EQ(cli({"job", "logs", id, "--since", "1h"}).output, expected_lines(1, 1500));
    EXPECT_EQ(cli({"job", "logs", id, "--since", "0s"}).output, "");
}

TEST_F(CliLogs, JoinsLateAndMissesNoLine) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    write_lines(lease, 1, 300);
    Process late({SLUICE_BINARY, "job", "logs", "-f", id, "--server", server()});
    for (int i = 1; i <= 10; ++i) write_lines(lease, i * 300 + 1, (i + 1) * 300);
    ASSERT_EQ(late.read_line(Millis(10'000)), "line 1");
    write_lines(lease, 3301, 3310);
    expect_ok(api.succeed(lease));

    EXPECT_EQ(late.wait(Millis(10'000)), 0) << late.errors();
    EXPECT_EQ(late.output(), expected_lines(2, 3310));
    EXPECT_EQ(cli({"job", "logs", "-f", id}).output, expected_lines(1, 3310));
    EXPECT_EQ(cli({"job", "logs", "-f", id, "--tail", "3"}).output, expected_lines(3308, 3310));
}

TEST_F(CliLogs, ShowsWhereALineComesFrom) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    expect_ok(api.log(lease, {Fields{{"level", "warn"},
                                     {"message", "hot"},
                                     {"data", Fields{{"degrees", 90}}},
                                     {"timestamp", "2026-11-15T04:11:02.922Z"}}}));

    EXPECT_EQ(cli({"job", "logs", id, "--prefix", "--timestamps"}).output,
              "2026-11-15T04:11:02.922Z [" + id + " #1 warn] hot\n");
    const Ended coloured = on_terminal({"job", "logs", id});
    EXPECT_EQ(coloured.output, "hot\n");
    Terminal terminal(with_server({"job", "logs", id}));
    terminal.wait();
    EXPECT_TRUE(has(terminal.written(), "\x1b[33mhot")) << terminal.written();
    const Json document = parse(cli({"job", "logs", id, "--json"}).output);
    EXPECT_EQ(list(document, "logs"), api.logs(id));
    EXPECT_EQ(number(document, "next_after"), 1);
    EXPECT_EQ(cli({"job", "logs", id, "-o", "jsonl", "--fields", "level,data"}).output,
              "{\"level\":\"warn\",\"data\":{\"degrees\":90}}\n");
    EXPECT_TRUE(has(cli({"job", "logs", id, "-o", "wide"}).output, "{\"degrees\":90}"));
    EXPECT_EQ(cli({"job", "logs", "-f", id, "--json"}).code, 2);
}

TEST_F(CliLogs, EscapesWhatALineMustNotDo) {
    const std::string id = api.submit_id();
    expect_ok(api.log(api.claim_one(), {Fields{{"message", "a\tb\x1b[2Jc\u0085d\nsecond"}}}));

    EXPECT_EQ(cli({"job", "logs", id}).output, "a\\tb\\x1b[2Jc\\u0085d\n    second\n");
    EXPECT_TRUE(
        has(cli({"job", "logs", id, "-o", "plain"}).output, "\ta\\tb\\x1b[2Jc\\u0085d\\nsecond\t"));
    EXPECT_EQ(list(parse(cli({"job", "logs", id, "--json"}).output), "logs"), api.logs(id))
        << "JSON is not touched";
}

TEST_F(CliLogs, EndsAtCtrlC) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    write_lines(lease, 1, 1);
    Terminal terminal(with_server({"job", "logs", "-f", id}));
    ASSERT_TRUE(terminal.shows("line 1"));
    terminal.type("\x03");

    EXPECT_EQ(terminal.wait(), 130);
    EXPECT_EQ(cli({"job", "logs", "000000000000000000000000"}).code, 5);
    EXPECT_EQ(cli({"job", "logs", "-f", "000000000000000000000000"}).code, 5);
}

}  // namespace cli_logs_test
}  // namespace sluice::e2e
