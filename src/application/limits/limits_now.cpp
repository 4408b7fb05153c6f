#include "application/limits/limits_now.hpp"

#include <algorithm>
#include <map>

#include "application/limits/known_meters.hpp"

namespace sluice {
namespace {

constexpr std::size_t meters_shown = 100;

// The lane of which a rule with exact names is, so that its meter is shown before it has jobs.
Lane lane_in_scope(const LimitRule& rule) {
    return {.tenant = rule.scope.tenant,
            .queue = rule.scope.queue,
            .type = rule.scope.type,
            .source = rule.scope.source};
}

bool has_one_meter(const LimitRule& rule) {
    return std::none_of(std::begin(all_dimensions), std::end(all_dimensions),
                        [&](Dimension dimension) { return rule.per.has(dimension); });
}

void hide_meters(RuleUse& use) {
    use.meters.clear();
    use.meter_count = use.meters_closed = use.rate_used = use.rate_max = 0;
}

// Starts that count against a rate now.
std::int64_t starts_of(const LimitRate& rate, const MeterState& meter, Timestamp now) {
    return rate.whole_hour ? meter.starts.sum(now) : rate.burst - tokens_of(rate, meter, now);
}

std::int64_t starts_max(const LimitRate& rate) {
    return rate.whole_hour ? rate.count : rate.burst;
}

// The uses of all rules, while they are gathered.
class Uses {
  public:
    Uses(const LimitRules& rules, KnownMeters& meters, const AskLimits& ask, Timestamp now)
        : meters_(meters), ask_(ask), now_(now), rules_(rules) {}

    void add(const LaneNow& lane, const std::vector<Permit>& permits) {
        const CountedWaiting counted(lane);
        for (const Permit& permit : permits) {
            const auto [meter, is_new] = uses_[permit.rule].try_emplace(permit.meter);
            if (is_new) meter->second = use_of(permit, lane.lane);
            meter->second.active += lane.active;
            meter->second.waiting += counted.count;
            meter->second.is_more = meter->second.is_more || counted.is_more;
        }
    }

    // Once all lanes were added.
    std::vector<RuleUse> all() {
        std::vector<RuleUse> uses;
        for (const LimitRule& rule : rules_.all()) {
            if (!ask_.rule.empty() && rule.id != ask_.rule) continue;
            if (!ask_.tenant.empty() && !rules_.is_about(rule, ask_.tenant)) continue;
            uses.push_back(use_of_rule(rule));
            if (hides_meters(rule)) hide_meters(uses.back());
        }
        return uses;
    }

  private:
    using Meters = std::map<MeterId, MeterUse>;

    bool hides_meters(const LimitRule& rule) const {
        return ask_.only_own && !counts_one_tenant(rule);
    }

    MeterUse use_of(const Permit& permit, const Lane& lane) {
        const MeterState& state = meters_.of(permit);
        MeterUse use{.meter = meter_name(*permit.rule, lane), .state = state};
        use.room = room_of(*permit.rule, state, now_);
        if (permit.rule->rate) use.tokens = tokens_of(*permit.rule->rate, state, now_);
        return use;
    }

    // Of the jobs that were added up, those that wait beyond what the meter permits. For a caller
    // who does not learn what others use, a meter that is open is as if they used nothing.
    void keep_waiting(const LimitRule& rule, MeterUse& meter) const {
        std::int64_t room = meter.room.count;
        if (room > 0 && hides_meters(rule)) {
            room = room_of(rule, MeterState{.active = meter.active}, now_).count;
        }
        if (room == unbounded) meter.is_more = false;
        meter.waiting = std::max<std::int64_t>(0, meter.waiting - room);
    }

    RuleUse use_of_rule(const LimitRule& rule) {
        RuleUse use{.rule = rule};
        if (const auto found = uses_.find(&rule); found != uses_.end()) {
            for (auto& [id, meter] : found->second) {
                keep_waiting(rule, meter);
                use.meters.push_back(std::move(meter));
            }
        } else if (has_one_meter(rule)) {
            use.meters.push_back(idle_use(rule));
        }
        use.meter_count = std::ssize(use.meters);
        for (const MeterUse& meter : use.meters) add_up(use, meter);
        std::stable_sort(use.meters.begin(), use.meters.end(),
                         [](const MeterUse& a, const MeterUse& b) {
                             return std::tie(a.waiting, a.active) > std::tie(b.waiting, b.active);
                         });
        if (use.meters.size() > meters_shown) use.meters.resize(meters_shown);
        return use;
    }

    void add_up(RuleUse& use, const MeterUse& meter) const {
        use.active += meter.active;
        use.waiting += meter.waiting;
        use.is_more = use.is_more || meter.is_more;
        if (meter.room.count == 0) ++use.meters_closed;
        if (!use.rule.rate) return;
        use.rate_used += starts_of(*use.rule.rate, meter.state, now_);
        use.rate_max += starts_max(*use.rule.rate);
    }

    MeterUse idle_use(const LimitRule& rule) {
        const Lane lane = lane_in_scope(rule);
        const Permit permit = permit_of(rule, lane);
        meters_.read(std::vector<std::vector<Permit>>{{permit}});
        return use_of(permit, lane);
    }

    KnownMeters& meters_;
    const AskLimits& ask_;
    Timestamp now_;
    const LimitRules& rules_;
    std::map<const LimitRule*, Meters> uses_;
};

using Sources = std::map<std::pair<std::string, std::string>, SourceNow>;  // tenant, source

// Also one that is a limit: the configuration knows no other.
bool is_pause_of_source(const LimitRule& rule, Timestamp now) {
    const LimitScope& scope = rule.scope;
    return rule.paused && !rule.is_over(now) && !scope.source.empty() && scope.type.empty() &&
           scope.queue.empty();
}

// A source that had no jobs is listed, too, while it is paused: as one of the tenant that was asked
// about, or else of those for whom it is paused.
void add_pause(const LimitRule& rule, const std::string& tenant, Sources& found) {
    const LimitScope& scope = rule.scope;
    if (!tenant.empty() && !covers(scope.tenant, tenant)) return;
    bool is_listed = false;
    for (auto& [key, source] : found) {
        if (!covers(scope.tenant, key.first) || !covers(scope.source, key.second)) continue;
        source.pause = rule;
        is_listed = true;
    }
    if (is_listed || is_prefix(scope.source)) return;
    const std::string whose = tenant.empty() ? scope.tenant : tenant;
    SourceNow& source = found[{whose, scope.source}];
    source.last_day.tenant = whose;
    source.last_day.source = scope.source;
    source.pause = rule;
}

}  // namespace

std::vector<ClosedPermit> permits_missing(LimitReader& limits, const Lane& lane, Timestamp now) {
    const std::shared_ptr<const LimitRules> rules = limits.limit_rules();
    if (rules->empty()) return {};
    const std::vector<Permit> permits = rules->permits_of(lane);
    std::vector<MeterId> ids;
    for (const Permit& permit : permits) ids.push_back(permit.meter);
    return closed_permits(lane, permits, limits.meters(ids), now);
}

LimitsNow limits_now(Transaction& tx, const AskLimits& ask) {
    const std::shared_ptr<const LimitRules> rules = tx.limits().limit_rules();
    LimitsNow now{.profiles = rules->profiles(), .version = rules->version()};
    if (rules->empty()) return now;
    std::vector<LaneNow> lanes = tx.limits().lanes(waiting_counted_max + 1);
    if (ask.only_own) {
        std::erase_if(lanes, [&](const LaneNow& lane) { return lane.lane.tenant != ask.tenant; });
    }
    const auto permits = permits_of(*rules, lanes);
    KnownMeters meters(tx.limits());
    meters.read(permits);
    Uses uses(*rules, meters, ask, tx.now());
    for (std::size_t i = 0; i < lanes.size(); ++i) uses.add(lanes[i], permits[i]);
    now.rules = uses.all();
    return now;
}

StartNow start_now(LimitReader& limits, const AskStart& ask, Timestamp now) {
    const std::shared_ptr<const LimitRules> rules = limits.limit_rules();
    const std::vector<ClosedPermit> closed = permits_missing(limits, ask.lane, now);
    StartNow start{.next_eligible_at = sluice::next_eligible_at(closed)};
    for (const ClosedPermit& permit : closed) {
        start.held_by.push_back({.code = std::string(code_of(permit)),
                                 .detail = text_of(permit, ask.viewer),
                                 .rule = permit.rule->id,
                                 .until = permit.room.not_before});
    }
    return start;
}

SourcesNow sources_now(Transaction& tx, const AskSources& ask) {
    Sources found;
    for (SourceCount& count : tx.limits().sources(ask.tenant, tx.now())) {
        const std::pair key(count.tenant, count.source);
        found[key].last_day = std::move(count);
    }
    for (const LaneNow& lane : tx.limits().lanes(waiting_counted_max + 1)) {
        const auto source = found.find({lane.lane.tenant, lane.lane.source});
        if (source == found.end()) continue;
        const CountedWaiting counted(lane);
        source->second.queued += counted.count;
        source->second.is_more = source->second.is_more || counted.is_more;
        source->second.active += lane.active;
    }
    const std::shared_ptr<const LimitRules> rules = tx.limits().limit_rules();
    for (const LimitRule& rule : rules->all()) {
        if (is_pause_of_source(rule, tx.now())) add_pause(rule, ask.tenant, found);
    }
    SourcesNow sources;
    for (auto& [key, source] : found) sources.push_back(std::move(source));
    return sources;
}

}  // namespace sluice
