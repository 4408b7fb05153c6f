#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace sluice {

// Prometheus' text format. Of a histogram the buckets come first, then the sum, then the count, as
// in the format's own examples; the library writes them the other way around, and some readers
// depend on the order.
std::string metrics_text(const std::vector<prometheus::MetricFamily>& families);

}  // namespace sluice
