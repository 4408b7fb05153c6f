#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace sluice {

// Prometheus' text format. Of a histogram the buckets come first, then the sum, then the count, as
// the format's own examples have it; the library writes them the other way around, and there are
// readers that go by the order.
std::string metrics_text(const std::vector<prometheus::MetricFamily>& families);

}  // namespace sluice
