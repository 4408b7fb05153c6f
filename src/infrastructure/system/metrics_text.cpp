#include "infrastructure/system/metrics_text.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    return line;
}

// A line is one sample: line ends within labels are escaped.
void append_histograms(std::string& out, std::string_view name, std::string_view text) {
    const auto is = [&](std::string_view line, std::string_view part) {
        return line.starts_with(name) && line.substr(name.size()).starts_with(part);
    };
    std::string_view sum;
    std::string_view count;
    const auto end_histogram = [&] {
        out += sum;
        out += count;
        sum = count = {};
    };
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        if (is(line, "_bucket")) {
            out += line;
            continue;
        }
        if (!sum.empty() && !count.empty()) end_histogram();
        if (is(line, "_sum"))
            sum = line;
        else if (is(line, "_count"))
            count = line;
        else
            out += line;
    }
    end_histogram();
}

}  // namespace

std::string metrics_text(const std::vector<prometheus::MetricFamily>& families) {
    const prometheus::TextSerializer serializer;
    std::string out;
    for (const prometheus::MetricFamily& family : families) {
        const std::string text = serializer.Serialize({family});
        if (family.type == prometheus::MetricType::Histogram) {
            append_histograms(out, family.name, text);
        } else {
            out += text;
        }
    }
    return out;
}

}  // namespace sluice
