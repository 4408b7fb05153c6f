#include "infrastructure/system/metrics.hpp"

#include <gtest/gtest.h>

#include "application/engine/duties.hpp"

namespace sluice {
namespace metrics_test {

class DutyMetrics : public testing::Test {
  protected:
    std::string value(const std::string& name, const std::string& duty) {
        const std::string text = metrics.text({});
        const std::string line = name + "{duty=\"" + duty + "\"} ";
        const std::size_t start = text.find(line);
        if (start == std::string::npos) return "none";
        const std::size_t from = start + line.size();
        return text.substr(from, text.find('\n', from) - from);
    }

    Metrics metrics{"test"};
};

TEST_F(DutyMetrics, AreThereForEachDutyFromTheStart) {
    for (const DutyName& duty : duty::all) {
        EXPECT_EQ(value("sluice_duty_runs_total", std::string(duty.name)), "0") << duty.name;
        EXPECT_EQ(value("sluice_duty_failures_total", std::string(duty.name)), "0") << duty.name;
    }
}

TEST_F(DutyMetrics, CountRunsAndWhatTheyDealtWith) {
    const Timestamp at = from_micros(5'000'000);
    metrics.committed({.duties = {{.duty = "leases", .items = 3, .at = at}}});
    metrics.ran({.duty = "leases", .items = 4, .at = at + std::chrono::seconds(2)});

    EXPECT_EQ(value("sluice_duty_runs_total", "leases"), "2");
    EXPECT_EQ(value("sluice_duty_items_total", "leases"), "7");
    EXPECT_EQ(value("sluice_duty_last_run_seconds", "leases"), "7");
}

TEST_F(DutyMetrics, CountARunThatFailedAsNothingElse) {
    metrics.ran({.duty = "vacuum", .items = 4, .at = from_micros(1), .failed = true});

    EXPECT_EQ(value("sluice_duty_runs_total", "vacuum"), "1");
    EXPECT_EQ(value("sluice_duty_failures_total", "vacuum"), "1");
    EXPECT_EQ(value("sluice_duty_items_total", "vacuum"), "0");
    EXPECT_EQ(value("sluice_duty_last_run_seconds", "vacuum"), "0");
}

}  // namespace metrics_test
}  // namespace sluice
