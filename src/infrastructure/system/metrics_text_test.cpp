#include "infrastructure/system/metrics_text.hpp"

#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace sluice {
namespace metrics_text_test {

TEST(MetricsText, WritesTheBucketsOfAHistogramBeforeItsSumAndCount) {
    prometheus::Registry registry;
    prometheus::BuildCounter().Name("jobs_total").Help("Jobs").Register(registry).Add({});
    auto& family = prometheus::BuildHistogram().Name("seconds").Help("Time").Register(registry);
    const prometheus::Histogram::BucketBoundaries buckets{1, 5};
    family.Add({{"route", "a\nseconds_sum 7"}}, buckets).Observe(2);
    family.Add({{"route", "b"}}, buckets).Observe(0.5);

    const std::string text = metrics_text(registry.Collect());

    EXPECT_NE(text.find("# TYPE jobs_total counter\njobs_total 0\n"), std::string::npos) << text;
    const std::string start = "# HELP seconds Time\n# TYPE seconds histogram\n";
    const std::string first =
        "seconds_bucket{route=\"a\\nseconds_sum 7\",le=\"1\"} 0\n"
        "seconds_bucket{route=\"a\\nseconds_sum 7\",le=\"5\"} 1\n"
        "seconds_bucket{route=\"a\\nseconds_sum 7\",le=\"+Inf\"} 1\n"
        "seconds_sum{route=\"a\\nseconds_sum 7\"} 2\n"
        "seconds_count{route=\"a\\nseconds_sum 7\"} 1\n";
    const std::string second =
        "seconds_bucket{route=\"b\",le=\"1\"} 1\n"
        "seconds_bucket{route=\"b\",le=\"5\"} 1\n"
        "seconds_bucket{route=\"b\",le=\"+Inf\"} 1\n"
        "seconds_sum{route=\"b\"} 0.5\n"
        "seconds_count{route=\"b\"} 1\n";
    // The library keeps the metrics of a family in no fixed order.
    EXPECT_TRUE(text.find(start + first + second) != std::string::npos ||
                text.find(start + second + first) != std::string::npos)
        << text;
}

}  // namespace metrics_text_test
}  // namespace sluice
