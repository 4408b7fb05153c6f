#include "infrastructure/system/limit_metrics.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace limit_metrics_test {

using namespace std::chrono_literals;

constexpr Timestamp start = from_micros(1'767'225'600'000'000);

RuleUse use(std::string id, std::int64_t active, std::int64_t room) {
    RuleUse made;
    made.rule.id = std::move(id);
    made.rule.max_active = 8;
    made.active = active;
    made.meter_count = 1;
    made.meters_closed = room == 0 ? 1 : 0;
    return made;
}

// The value of the rule's series in the family, or "none".
std::string value(const std::string& text, const std::string& family, const std::string& rule) {
    const std::string line = "\n" + family + "{rule=\"" + rule + "\",";
    const std::size_t begin = text.find(line);
    if (begin == std::string::npos) return "none";
    const std::size_t from = text.find("} ", begin) + 2;
    return text.substr(from, text.find('\n', from) - from);
}

constexpr const char* closed_seconds = "sluice_limit_closed_seconds_total";

TEST(LimitMetrics, AreEmptyWithoutRules) {
    EXPECT_EQ(LimitMetrics().text({}, start), "");
}

TEST(LimitMetrics, HaveTheFiguresOfEachRule) {
    const std::string text =
        LimitMetrics().text({.rules = {use("a", 8, 0), use("b", 3, 5)}}, start);

    EXPECT_EQ(value(text, "sluice_limit_active", "a"), "8");
    EXPECT_EQ(value(text, "sluice_limit_max", "b"), "8");
    EXPECT_EQ(value(text, "sluice_limit_closed", "a"), "1");
    EXPECT_EQ(value(text, "sluice_limit_closed", "b"), "0");
    EXPECT_NE(text.find("\n# TYPE sluice_limit_closed_seconds_total counter\n"), std::string::npos);
}

TEST(LimitMetrics, CompareUseWithTheLimitsOfAllMeters) {
    RuleUse each = use("a", 9, 0);
    each.meter_count = 3;
    each.rule.rate = LimitRate{};
    each.rate_used = 7;
    each.rate_max = 30;
    RuleUse idle = use("b", 0, 8);
    idle.meter_count = 0;

    const std::string text = LimitMetrics().text({.rules = {each, idle}}, start);

    EXPECT_EQ(value(text, "sluice_limit_active", "a"), "9");
    EXPECT_EQ(value(text, "sluice_limit_max", "a"), "24");
    EXPECT_EQ(value(text, "sluice_limit_rate_used", "a"), "7");
    EXPECT_EQ(value(text, "sluice_limit_rate_max", "a"), "30");
    EXPECT_EQ(value(text, "sluice_limit_max", "b"), "8");
    EXPECT_EQ(value(text, "sluice_limit_rate_used", "b"), "none");
}

TEST(LimitMetrics, CountHowLongARuleWasClosedFromOneReadToTheNext) {
    LimitMetrics metrics;
    const LimitsNow closed{.rules = {use("a", 8, 0), use("b", 3, 5)}};
    const LimitsNow open{.rules = {use("a", 7, 1), use("b", 3, 5)}};

    EXPECT_EQ(value(metrics.text(closed, start), closed_seconds, "a"), "0.000");
    EXPECT_EQ(value(metrics.text(closed, start + 15s), closed_seconds, "a"), "15.000");
    EXPECT_EQ(value(metrics.text(open, start + 17500ms), closed_seconds, "a"), "17.500");
    EXPECT_EQ(value(metrics.text(closed, start + 60s), closed_seconds, "a"), "17.500");
    const std::string last = metrics.text(closed, start + 61s);
    EXPECT_EQ(value(last, closed_seconds, "a"), "18.500");
    EXPECT_EQ(value(last, closed_seconds, "b"), "0.000");
}

TEST(LimitMetrics, NeverCountBackwards) {
    LimitMetrics metrics;
    const LimitsNow closed{.rules = {use("a", 8, 0)}};
    metrics.text(closed, start);
    metrics.text(closed, start + 10s);

    EXPECT_EQ(value(metrics.text(closed, start - 1h), closed_seconds, "a"), "10.000");
    EXPECT_EQ(value(metrics.text(closed, start - 1h + 5s), closed_seconds, "a"), "15.000");
}

TEST(LimitMetrics, ForgetARuleThatWasLifted) {
    LimitMetrics metrics;
    const LimitsNow closed{.rules = {use("a", 8, 0)}};
    metrics.text(closed, start);
    metrics.text(closed, start + 10s);
    metrics.text({}, start + 20s);

    EXPECT_EQ(value(metrics.text(closed, start + 30s), closed_seconds, "a"), "0.000");
}

TEST(LimitMetrics, HaveABoundedNumberOfSeries) {
    LimitsNow many;
    for (int i = 0; i < 1000; ++i) many.rules.push_back(use("r" + std::to_string(i), 1, 1));

    const std::string text = LimitMetrics().text(many, start);

    EXPECT_NE(text.find("\nsluice_limit_rules_left_out 900\n"), std::string::npos);
    EXPECT_EQ(value(text, closed_seconds, "r99"), "0.000");
    EXPECT_EQ(value(text, closed_seconds, "r100"), "none");
}

TEST(LimitMetrics, HaveTheRulesForWhichJobsWaitWhenThereAreMany) {
    LimitMetrics metrics;
    LimitsNow many;
    for (int i = 0; i < 1000; ++i) many.rules.push_back(use("r" + std::to_string(i), 1, 1));
    many.rules[700].meters_closed = 1;
    metrics.text(many, start);
    many.rules[900].waiting = 1;

    const std::string text = metrics.text(many, start + 10s);

    EXPECT_EQ(value(text, "sluice_limit_waiting", "r900"), "1");
    EXPECT_EQ(value(text, closed_seconds, "r700"), "10.000");
    EXPECT_EQ(value(text, closed_seconds, "r97"), "0.000");
    EXPECT_EQ(value(text, closed_seconds, "r98"), "none");
    many.rules[700].meters_closed = 0;
    EXPECT_EQ(value(metrics.text(many, start + 20s), closed_seconds, "r700"), "none");
    many.rules[700].waiting = 1;
    EXPECT_EQ(value(metrics.text(many, start + 30s), closed_seconds, "r700"), "20.000")
        << "it is counted while it is left out";
}

}  // namespace limit_metrics_test
}  // namespace sluice
