#include <gtest/gtest.h>

#include "e2e/cli.hpp"

namespace sluice::e2e {
namespace cli_wait_test {

class CliWait : public CliTest {
  protected:
    Ended wait_for(const Words& words) const {
        Words all{"job", "wait"};
        all.insert(all.end(), words.begin(), words.end());
        return cli(all);
    }

    std::string canceled_job() {
        const std::string id = api.submit_id();
        expect_ok(api.cancel(id));
        return id;
    }
};

TEST_F(CliWait, ExitsWithTheFinalState) {
    const std::string succeeded = succeeded_job();
    const std::string failed = failed_job();
    const std::string canceled = canceled_job();

    EXPECT_EQ(wait_for({succeeded}).code, 0);
    EXPECT_EQ(wait_for({failed}).code, 3);
    EXPECT_EQ(wait_for({canceled}).code, 8);
    EXPECT_EQ(wait_for({succeeded, canceled}).code, 8);
    EXPECT_EQ(wait_for({succeeded, canceled, failed}).code, 3);
    EXPECT_EQ(wait_for({"000000000000000000000000"}).code, 5);
    EXPECT_EQ(wait_for({succeeded, "000000000000000000000000"}).code, 5);
    EXPECT_EQ(wait_for({succeeded, "--all", "--any"}).code, 2);
}

TEST_F(CliWait, WaitsUntilAllHaveEnded) {
    const std::string first = api.submit_id();
    const std::string second = api.submit_id();
    Process process({SLUICE_BINARY, "job", "wait", first, second, "--server", server()});
    expect_ok(api.succeed(api.claim_one()));
    EXPECT_EQ(process.wait(Millis(200)), std::nullopt) << "one of them has not ended";
    expect_ok(api.succeed(api.claim_one()));

    EXPECT_EQ(process.wait(Millis(10'000)), 0) << process.errors();
    EXPECT_TRUE(has(process.output(), first + "\tsucceeded\t")) << process.output();
    EXPECT_TRUE(has(process.output(), second + "\tsucceeded\t")) << process.output();
}

TEST_F(CliWait, WaitsForTheFirstOfSeveral) {
    const std::string pending = api.submit_id();
    const std::string failed = failed_job();
    const Ended ended = wait_for({pending, failed, "--any", "-o", "name"});

    EXPECT_EQ(ended.code, 3) << ended.errors;
    EXPECT_EQ(ended.output, failed + "\n");
}

TEST_F(CliWait, DoesNotTakeAnErrorForTheFirstOfSeveral) {
    const std::string pending = api.submit_id();
    const Ended ended = wait_for({pending, "000000000000000000000000", "--any"});

    EXPECT_EQ(ended.code, 5) << ended.errors;
    EXPECT_EQ(ended.output, "");
}

TEST_F(CliWait, GivesUpWhenTheTimeIsUp) {
    const std::string pending = api.submit_id();
    const std::string done = succeeded_job();
    const Ended ended = wait_for({pending, done, "--timeout", "1s"});

    EXPECT_EQ(ended.code, 7);
    EXPECT_TRUE(has(ended.errors, "1 of 2 jobs has not ended within 1s; it goes on"))
        << ended.errors;
    EXPECT_EQ(wait_for({pending, "--any", "--timeout", "100ms"}).code, 7);
    EXPECT_EQ(wait_for({pending, "--timeout", "soon"}).code, 2);
}

TEST_F(CliWait, WaitsForAState) {
    const std::string running = api.submit_id();
    Process process({SLUICE_BINARY, "job", "wait", running, "--for", "state=running", "--json",
                     "--server", server()});
    const Json lease = api.claim_one();
    ASSERT_EQ(process.wait(Millis(10'000)), 0) << process.errors();
    EXPECT_EQ(text(parse(process.output()), "state"), "running");
    expect_ok(api.succeed(lease));

    EXPECT_EQ(wait_for({running, "--for", "state=running"}).code, 0) << "it was running";
    EXPECT_EQ(wait_for({running, "--for", "state=failed"}).code, 6) << "it never will";
    EXPECT_EQ(wait_for({failed_job(), "--for", "state=succeeded"}).code, 3);
    EXPECT_EQ(wait_for({failed_job(), "--for", "state=succeeded,failed"}).code, 0);
    EXPECT_EQ(wait_for({running, "--for", "state=done"}).code, 2);
    EXPECT_EQ(wait_for({running, "--for", "succeeded"}).code, 2);
}

TEST_F(CliWait, EndsAtCtrlC) {
    Terminal terminal(with_server({"job", "wait", api.submit_id(), api.submit_id()}));
    EXPECT_EQ(terminal.wait(Millis(300)), std::nullopt);
    terminal.type("\x03");

    EXPECT_EQ(terminal.wait(), 130);
}

}  // namespace cli_wait_test
}  // namespace sluice::e2e
