// What the rules hold back, and whether the engine tells the same.
#include <algorithm>
#include <cmath>

#include "simulation/checker.hpp"
#include "simulation/limit_model.hpp"

namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;

bool is_later(std::optional<Timestamp> a, std::optional<Timestamp> b) {
    return a && (!b || *a > *b);
}

}  // namespace

// ── what holds a lane back ──

LimitModel::Answer LimitModel::may_start(const Lane& lane) {
    if (!has_rules()) return Answer::yes;
    const auto [known, is_new] = answers_.try_emplace(lane, Answer::yes);
    if (is_new) known->second = work_out(lane);
    return known->second;
}

LimitModel::Answer LimitModel::work_out(const Lane& lane) {
    Answer answer = Answer::yes;
    for (const LimitRule* rule : rules_for(lane)) {
        for (const Closed& bound : closed_by(*rule, lane)) {
            if (bound.is_closed == Answer::yes) return Answer::no;
            answer = Answer::perhaps;
        }
    }
    return answer;
}

// Bounds of the rule that hold the lane back, or perhaps do.
std::vector<LimitModel::Closed> LimitModel::closed_by(const LimitRule& rule, const Lane& lane) {
    const Answer over = is_over(rule);
    if (over == Answer::yes) return {};
    // A quota whose end has come is lifted at any moment.
    const bool is_quota = rule.kind == LimitKind::quota;
    std::optional<Timestamp> end = rule.until;
    if (end && is_quota) end = std::max(*end, now_);
    const Timestamp last = end && is_quota ? *end + engine_is_late_by : rule.until.value_or(never);
    std::vector<Closed> all;
    if (rule.paused) all.push_back({"paused", Answer::yes, end, last});
    if (rule.max_active && active(rule, meter_of(rule, lane)) >= *rule.max_active) {
        all.push_back({std::string(to_text(rule.kind)), Answer::yes});
    }
    if (rule.rate) {
        Bucket& meter = bucket(rule, meter_of(rule, lane));
        all.push_back(closed_by_rate(rule, meter));
        if (rule.rate->whole_hour) all.push_back(closed_by_hour(rule, meter));
    }
    std::erase_if(all, [](const Closed& bound) { return bound.is_closed == Answer::no; });
    for (Closed& bound : all) {
        if (rule.kind == LimitKind::maintenance) bound.code = "maintenance";
        if (rule.kind == LimitKind::block) bound.code = "tenant_blocked";
        if (over == Answer::perhaps) bound.is_closed = Answer::perhaps;
        if (!end || !bound.from) continue;
        bound.from = std::min(*bound.from, *end);
        bound.to = std::min(bound.to, last);
    }
    return all;
}

LimitModel::Closed LimitModel::closed_by_rate(const LimitRule& rule, Bucket& bucket) const {
    const double rate = per_second(*rule.rate);
    const double most = bucket.most + seconds_of(clocks_differ_by_) * rate + rounding;
    const double least =
        bucket.least - seconds_of(clocks_differ_by_ + engine_is_late_by) * rate - rounding;
    Closed bound{"rate_limit", most < 1 ? Answer::yes : Answer::perhaps};
    if (bucket.is_sure && least >= 1) bound.is_closed = Answer::no;
    bound.from = after(std::max(0.0, 1 - most) / rate);
    if (bucket.is_sure) bound.to = after(std::max(0.0, 1 - least) / rate);
    return bound;
}

LimitModel::Closed LimitModel::closed_by_hour(const LimitRule& rule, const Bucket& bucket) const {
    const double error = seconds_of(clocks_differ_by_ + engine_is_late_by);
    const auto younger_than = [&](double age) {
        return std::count_if(bucket.starts.begin(), bucket.starts.end(),
                             [&](double start) { return start > elapsed_ - age; });
    };
    const std::int64_t most = rule.rate->count;
    Closed bound{"rate_limit", Answer::perhaps};
    if (younger_than(hour - error) >= most) bound.is_closed = Answer::yes;
    if (bucket.is_sure && younger_than(hour + 2 * slot + error) < most) {
        bound.is_closed = Answer::no;
        return bound;
    }
    bound.from = now_;
    const std::int64_t too_many = std::ssize(bucket.starts) - most;
    if (too_many < 0) return bound;
    const double freed = bucket.starts[static_cast<std::size_t>(too_many)] + hour - elapsed_;
    bound.from = after(std::max(0.0, freed - error));
    if (bucket.is_sure) bound.to = after(std::max(0.0, freed + 2 * slot + error));
    return bound;
}

// ── what the engine tells ──

void LimitModel::check_told(const Lane& lane, const std::vector<Told>& told) {
    const auto rules = rules_for(lane);
    for (const Told& one : told) {
        const bool is_known = std::any_of(rules.begin(), rules.end(), [&](const LimitRule* rule) {
            return rule->id == one.rule;
        });
        demand(is_known, "a rule that has nothing to do with a job holds it back: ", one.rule);
    }
    for (const LimitRule* rule : rules) {
        const auto found = std::find_if(told.begin(), told.end(),
                                        [&](const Told& one) { return one.rule == rule->id; });
        check_rule_told(*rule, lane, found == told.end() ? nullptr : &*found);
    }
}

void LimitModel::check_rule_told(const LimitRule& rule, const Lane& lane, const Told* told) {
    const std::string name = name_of(rule, lane);
    std::optional<Timestamp> from;
    std::optional<Timestamp> to;
    bool is_certain = false;
    bool is_code_right = false;
    for (const Closed& bound : closed_by(rule, lane)) {
        const bool is_closed = bound.is_closed == Answer::yes;
        is_certain = is_certain || is_closed;
        is_code_right = is_code_right || (told && bound.code == told->code);
        if (is_closed && is_later(bound.from, from)) from = bound.from;
        if (bound.from && is_later(bound.to, to)) to = bound.to;
    }
    if (!told) return demand(!is_certain, name, " holds a job back, and that is not told");
    demand(is_code_right, name, " does not hold a job back by ", told->code);
    coverage_.verdict(told->code);
    const Duration error = clocks_differ_by_ + 2ms;
    if (!told->until) return demand(!from, name, ": it is not told when it opens");
    demand(*told->until >= now_ - clocks_differ_by_, name, ": opens in the past");
    demand(!from || *told->until >= *from - error, name, ": it is told to open too early");
    demand(to && (*to == never || *told->until <= *to + error), name,
           ": it is told to open too late");
}

void LimitModel::check_use(const LimitsNow& limits) const {
    demand(limits.rules.size() == rules_.size(), "not all rules are listed, or too many");
    for (const RuleUse& use : limits.rules) {
        const auto rule = rules_.find(use.rule.id);
        demand(rule != rules_.end(), "a rule is listed that does not hold: ", use.rule.reason);
        check_use_of(rule->second, use);
    }
}

void LimitModel::check_use_of(const LimitRule& rule, const RuleUse& use) const {
    std::set<std::string> listed;
    for (const MeterUse& meter : use.meters) {
        listed.insert(meter.meter);
        const std::int64_t expected = rule.max_active ? active(rule, meter.meter) : 0;
        demand(meter.state.active == expected, "the meter ", meter.meter, " of rule ", rule.reason,
               " counts ", std::to_string(meter.state.active), " active jobs, and there are ",
               std::to_string(expected));
        if (rule.rate) check_tokens(rule, meter);
    }
    if (!rule.max_active) return;
    for (const auto& [lane, leases] : leases_) {
        const auto rules = rules_for(lane);
        if (std::find(rules.begin(), rules.end(), &rule) == rules.end()) continue;
        demand(listed.contains(meter_of(rule, lane)), name_of(rule, lane), ": its meter is lost");
    }
}

void LimitModel::check_tokens(const LimitRule& rule, const MeterUse& use) const {
    const auto found = buckets_.find({rule.id, use.meter});
    Bucket known{.most = static_cast<double>(rule.rate->burst)};
    known.least = known.most;
    known.at = elapsed_;
    if (found != buckets_.end()) known = found->second;
    refill(rule, known);
    const double error = seconds_of(clocks_differ_by_) * per_second(*rule.rate) + rounding;
    const auto tokens = static_cast<double>(use.tokens);
    demand(tokens <= std::max(0.0, std::floor(known.most + error)), "the meter ", use.meter,
           " of rule ", rule.reason, " has too many tokens");
    demand(!known.is_sure || tokens >= std::floor(known.least - error), "the meter ", use.meter,
           " of rule ", rule.reason, " has lost tokens");
}

}  // namespace sluice::simulation
