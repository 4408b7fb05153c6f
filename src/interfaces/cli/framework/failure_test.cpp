#include "interfaces/cli/framework/failure.hpp"

#include <gtest/gtest.h>

#include "domain/values/time.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"
#include "sluice/client.hpp"

namespace sluice::cli {
namespace failure_test {

using namespace std::chrono_literals;

Failure unavailable(const std::string& message, client::Millis retry_after = 1s) {
    return failure_of(
        {client::ErrorKind::unavailable, 503, "unavailable", message, "", retry_after});
}

TEST(FailureOf, AnEngineThatRefusesForAWhileSaysWhenToTryAgain) {
    const std::string end = to_rfc3339(now() + 30min + 30s);
    const Failure failure =
        unavailable("no jobs are taken during maintenance until " + end + ": a new database");
    EXPECT_EQ(failure.code, exit_unreachable);
    EXPECT_TRUE(failure.message.ends_with("a new database; try again then, in 30m"))
        << failure.message;
}

TEST(FailureOf, WithoutATimeTheEnginesPauseCounts) {
    for (const std::string message : {"the store does not answer", "until it ends: until 2026",
                                      "it lasted until 2020-01-01T00:00:00Z"}) {
        EXPECT_EQ(unavailable(message).message, message + "; try again in a moment");
    }
    EXPECT_EQ(unavailable("busy", 180s).message, "busy; try again in 3m");
}

}  // namespace failure_test
}  // namespace sluice::cli
