#include "application/toolkit/refused_submits.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace refused_submits_test {

using namespace std::chrono_literals;

constexpr Timestamp now = from_micros(1'767'225'600'000'000);

std::chrono::seconds retry_after_an_end_in(std::optional<Duration> time) {
    LimitRule rule{.id = "m", .kind = LimitKind::maintenance};
    rule.paused = true;
    rule.refuses_submits = true;
    if (time) rule.until = now + *time;
    const auto refusal = refused_submit(LimitRules(1, {rule}, {}), "acme", now);
    return refusal ? refusal->retry_after : 0s;
}

TEST(RefusedSubmits, SayWhenToTryAgain) {
    EXPECT_EQ(retry_after_an_end_in(10min), 600s);
    EXPECT_EQ(retry_after_an_end_in(90s + 1us), 91s);
    EXPECT_EQ(retry_after_an_end_in(1us), 1s);
    EXPECT_EQ(retry_after_an_end_in(5h), 3600s);
    EXPECT_EQ(retry_after_an_end_in(std::nullopt), 30s);
    EXPECT_EQ(retry_after_an_end_in(0s), 0s) << "it is over, and refuses nothing";
}

}  // namespace refused_submits_test
}  // namespace sluice
