#include "infrastructure/system/limit_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

namespace sluice {
namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '"') out += '\\';
        out += c;
    }
    return out;
}

bool is_closed(const RuleUse& use) {
    return use.meters_closed > 0;
}

double seconds_of(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

using Figure = std::function<std::optional<std::string>(const RuleUse&)>;

struct Family {
    std::string_view name;
    std::string_view type;
    std::string_view help;
};

using Uses = std::vector<const RuleUse*>;

// Rules for which jobs wait come first, then those that are closed, then all others, each in the
// order of rules.
Uses first_uses(const LimitsNow& limits) {
    Uses uses;
    for (const RuleUse& use : limits.rules) uses.push_back(&use);
    if (uses.size() <= LimitMetrics::rules_max) return uses;
    std::stable_sort(uses.begin(), uses.end(), [](const RuleUse* a, const RuleUse* b) {
        return std::pair(a->waiting > 0, is_closed(*a)) > std::pair(b->waiting > 0, is_closed(*b));
    });
    uses.resize(LimitMetrics::rules_max);
    return uses;
}

void add_family(std::string& text, const Family& family, const Uses& uses, const Figure& figure) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", family.name, family.help, family.type);
    for (const RuleUse* use : uses) {
        const auto value = figure(*use);
        if (!value) continue;
        text += fmt::format("{}{{rule=\"{}\",kind=\"{}\",name=\"{}\"}} {}\n", family.name,
                            use->rule.id, to_text(use->rule.kind), escaped(use->rule.name), *value);
    }
}

// Comparable with what is active in all meters together.
std::optional<std::string> max_of(const RuleUse& use) {
    if (!use.rule.max_active) return std::nullopt;
    return std::to_string(*use.rule.max_active * std::max<std::int64_t>(1, use.meter_count));
}

std::optional<std::string> of_rate(const RuleUse& use, std::int64_t figure) {
    return use.rule.rate ? std::optional(std::to_string(figure)) : std::nullopt;
}

void add_use(std::string& text, const Uses& uses) {
    add_family(text,
               {"sluice_limit_active", "gauge",
                "Leases of jobs that the rule covers, in all of its meters together."},
               uses, [](const RuleUse& use) { return std::to_string(use.active); });
    add_family(text,
               {"sluice_limit_max", "gauge",
                "How many jobs may run at once by the rule: its max_active, times its meters in "
                "use."},
               uses, max_of);
    add_family(text,
               {"sluice_limit_rate_used", "gauge",
                "Starts that count against the rate now, in all meters together: those of the last "
                "hour where the rule bounds these, else the tokens that its buckets lack."},
               uses, [](const RuleUse& use) { return of_rate(use, use.rate_used); });
    add_family(text,
               {"sluice_limit_rate_max", "gauge",
                "How many starts may count at once: the number per hour, or the burst, times the "
                "meters in use."},
               uses, [](const RuleUse& use) { return of_rate(use, use.rate_max); });
    add_family(text,
               {"sluice_limit_waiting", "gauge",
                "Claimable jobs beyond what the rule permits; counted up to a maximum."},
               uses, [](const RuleUse& use) { return std::to_string(use.waiting); });
    add_family(text,
               {"sluice_limit_closed", "gauge", "1 while a meter of the rule permits no start."},
               uses, [](const RuleUse& use) { return std::string(is_closed(use) ? "1" : "0"); });
}

}  // namespace

// Also of rules that are not shown now. Those that never were closed need no entry.
void LimitMetrics::count_closed(std::span<const RuleUse> uses, Timestamp now) {
    const Duration passed = std::max(now - std::exchange(looked_at_, now), Duration{0});
    std::map<std::string, Closed> before = std::exchange(closed_, {});
    for (const RuleUse& use : uses) {
        Closed closed;
        if (const auto known = before.find(use.rule.id); known != before.end()) {
            closed = known->second;
        }
        if (closed.is_closed) closed.total += passed;
        closed.is_closed = is_closed(use);
        if (closed.is_closed || closed.total > Duration{0}) closed_[use.rule.id] = closed;
    }
}

std::string LimitMetrics::closed_seconds(const std::string& rule) const {
    const auto closed = closed_.find(rule);
    const Duration total = closed == closed_.end() ? Duration{0} : closed->second.total;
    return fmt::format("{:.3f}", seconds_of(total));
}

std::string LimitMetrics::text(const LimitsNow& limits, Timestamp now) {
    count_closed(limits.rules, now);
    if (limits.rules.empty()) return {};
    const Uses uses = first_uses(limits);
    std::string text;
    add_use(text, uses);
    add_family(text,
               {"sluice_limit_closed_seconds_total", "counter",
                "Seconds in which a meter of the rule permitted no start, whether jobs waited or "
                "not: the time between two reads of these metrics counts if the first of them "
                "found it closed."},
               uses, [&](const RuleUse& use) { return closed_seconds(use.rule.id); });
    text += fmt::format(
        "# HELP sluice_limit_rules_left_out Rules without the figures above: only {} have them, "
        "those first for which jobs wait.\n# TYPE sluice_limit_rules_left_out gauge\n"
        "sluice_limit_rules_left_out {}\n",
        rules_max, limits.rules.size() - uses.size());
    return text;
}

}  // namespace sluice
