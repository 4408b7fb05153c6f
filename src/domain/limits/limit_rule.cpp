#include "domain/limits/limit_rule.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr std::pair<LimitKind, std::string_view> kinds[] = {
    {LimitKind::maintenance, "maintenance"},
    {LimitKind::block, "block"},
    {LimitKind::throttle, "throttle"},
    {LimitKind::quota, "quota"},
    {LimitKind::limit, "limit"},
};
constexpr std::pair<Dimension, std::string_view> dimensions[] = {
    {Dimension::tenant, "tenant"},
    {Dimension::type, "type"},
    {Dimension::queue, "queue"},
    {Dimension::source, "source"},
};

template <class Value, std::size_t size>
std::string_view text_in(const std::pair<Value, std::string_view> (&table)[size], Value value) {
    for (const auto& [known, text] : table) {
        if (known == value) return text;
    }
    return "";
}

template <class Value, std::size_t size>
std::optional<Value> parse_in(const std::pair<Value, std::string_view> (&table)[size],
                              std::string_view text) {
    for (const auto& [value, known] : table) {
        if (known == text) return value;
    }
    return std::nullopt;
}

}  // namespace

std::string_view to_text(LimitKind kind) {
    return text_in(kinds, kind);
}

std::optional<LimitKind> parse_limit_kind(std::string_view text) {
    return parse_in(kinds, text);
}

std::string_view to_text(Dimension dimension) {
    return text_in(dimensions, dimension);
}

std::optional<Dimension> parse_dimension(std::string_view text) {
    return parse_in(dimensions, text);
}

const std::string& value_of(const Lane& lane, Dimension dimension) {
    switch (dimension) {
        case Dimension::tenant: return lane.tenant;
        case Dimension::type: return lane.type;
        case Dimension::queue: return lane.queue;
        case Dimension::source: break;
    }
    return lane.source;
}

bool is_prefix(std::string_view pattern) {
    return pattern.ends_with('*');
}

bool covers(std::string_view pattern, std::string_view name) {
    if (pattern.empty()) return true;
    if (is_prefix(pattern)) return name.starts_with(pattern.substr(0, pattern.size() - 1));
    return pattern == name;
}

const std::string& LimitScope::pattern(Dimension dimension) const {
    switch (dimension) {
        case Dimension::tenant: return tenant;
        case Dimension::type: return type;
        case Dimension::queue: return queue;
        case Dimension::source: break;
    }
    return source;
}

bool LimitScope::covers(const Lane& lane) const {
    return std::all_of(std::begin(all_dimensions), std::end(all_dimensions),
                       [&](Dimension d) { return sluice::covers(pattern(d), value_of(lane, d)); });
}

std::int64_t default_burst(const LimitRate& rate) {
    if (rate.whole_hour) return std::max<std::int64_t>(1, rate.count / 60);
    constexpr double most = 1e15;  // more than any bucket may hold
    const double a_second = static_cast<double>(rate.count) * 1e6 /
                            static_cast<double>(std::max<std::int64_t>(1, rate.period / 1us));
    return static_cast<std::int64_t>(std::clamp(a_second, 1.0, most));
}

LimitRate hourly_rate(std::int64_t count, std::optional<std::int64_t> burst) {
    LimitRate rate{.count = count, .period = 1h, .whole_hour = true};
    rate.burst = burst.value_or(default_burst(rate));
    return rate;
}

CountedBy counted_by_of_quota(const LimitScope& scope) {
    CountedBy per{Dimension::tenant};
    if (!scope.type.empty() && !is_prefix(scope.type)) per.add(Dimension::type);
    return per;
}

}  // namespace sluice
