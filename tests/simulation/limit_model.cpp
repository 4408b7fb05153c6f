#include "simulation/limit_model.hpp"

#include <algorithm>
#include <limits>

#include "json/json_values.hpp"
#include "simulation/checker.hpp"

namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;

constexpr int rules_at_most = 10'000;

bool fits(const std::string& pattern, const std::string& name) {
    if (pattern.empty() || pattern == name) return true;
    return pattern.back() == '*' && name.rfind(pattern.substr(0, pattern.size() - 1), 0) == 0;
}

bool is_about(const LimitRule& rule, const Lane& lane) {
    return fits(rule.scope.tenant, lane.tenant) && fits(rule.scope.type, lane.type) &&
           fits(rule.scope.queue, lane.queue) && fits(rule.scope.source, lane.source);
}

const char* quota_shape(const LimitRule& rule) {
    const bool is_for_type = !rule.scope.type.empty();
    if (!rule.profile.empty()) {
        return is_for_type ? "quota of a profile and a type" : "quota of a profile";
    }
    if (rule.scope.tenant.empty()) {
        return is_for_type ? "quota of every tenant and a type" : "quota of every tenant";
    }
    return is_for_type ? "quota of a tenant and a type" : "quota of a tenant";
}

std::string kind_shape(const LimitRule& rule) {
    if (rule.kind == LimitKind::quota) return quota_shape(rule);
    std::string shape(to_text(rule.kind));
    if (rule.kind == LimitKind::maintenance) {
        shape += rule.scope.tenant.empty() ? " of all" : " of a tenant";
    }
    return shape;
}

// What is special about the rule, for the table of what was covered.
std::vector<std::string> shapes_of(const LimitRule& rule) {
    std::vector<std::string> shapes{kind_shape(rule)};
    const auto add = [&](bool holds, const char* shape) {
        if (holds) shapes.emplace_back(shape);
    };
    add(rule.per == CountedBy{} && rule.has_meter(), "one meter for all");
    add(rule.per.has(Dimension::tenant), "counted by tenant");
    add(rule.per.has(Dimension::type), "counted by type");
    add(rule.per.has(Dimension::queue), "counted by queue");
    add(rule.per.has(Dimension::source), "counted by source");
    add(rule.scope.type.ends_with('*'), "for a beginning of types");
    add(rule.scope.tenant.ends_with('*'), "for a beginning of tenants");
    add(!rule.scope.queue.empty(), "for a queue");
    add(!rule.scope.source.empty(), "for a source");
    add(rule.max_active.has_value(), "with max_active");
    add(rule.rate && !rule.rate->whole_hour, "with a rate");
    add(rule.rate && rule.rate->whole_hour, "with starts in an hour");
    add(rule.paused, "paused");
    add(rule.until.has_value(), "with an end");
    add(rule.until && rule.kind == LimitKind::quota, "quota with an end");
    return shapes;
}

}  // namespace

// ── rules ──

void LimitModel::read(EntityReader& entities) {
    const auto active = [&](const char* kind) {
        return entities.list({.tenant = "@sluice", .kind = kind, .states = {"active"}},
                             newest_entity, 0, rules_at_most);
    };
    std::map<std::string, LimitRule> rules;
    for (const Entity& entity : active("limit")) read_rule(entity, rules);
    rules_ = std::move(rules);
    profiles_.clear();
    for (const Entity& entity : active("limit_profile")) {
        profiles_[entity.key.id] = texts_of(entity.attributes, "tenants");
    }
    answers_.clear();
}

// A rule says in its reason which request it is from, and must be what that one asked for.
void LimitModel::read_rule(const Entity& entity, std::map<std::string, LimitRule>& rules) {
    const std::string reason = text_of(entity.attributes, "reason").value_or("");
    const auto request = asked_.find(reason);
    demand(request != asked_.end(), "nobody asked for the rule ", reason);
    LimitRule rule = request->second;
    rule.id = entity.key.id;
    rule.reason = reason;
    rule.revision = entity.revision;
    const auto before = rules_.find(rule.id);
    if (before == rules_.end() || before->second.reason != reason) {
        for (const std::string& shape : shapes_of(rule)) coverage_.rule(shape);
    }
    if (before != rules_.end()) change(before->second, rule);
    rules.emplace(rule.id, std::move(rule));
}

// A bucket lacks as many tokens as before, and not more than it has room for. What is missing is
// not known when the rule was changed several times, or had no rate. One that lacks more than it
// has room for is empty as of the change, whose time in the engine was a little earlier.
void LimitModel::change(const LimitRule& before, const LimitRule& after) {
    if (before.revision == after.revision) return;
    const bool is_known = before.rate && after.rate && after.revision == before.revision + 1;
    for (auto& [meter, bucket] : buckets_) {
        if (meter.first != after.id) continue;
        if (!is_known) bucket.forget();
        if (is_known) refill(before, bucket);
        bucket.at = elapsed_;
        if (!after.rate) continue;
        const auto burst = static_cast<double>(after.rate->burst);
        const double late = is_known ? 2 * per_second(*before.rate) : 0;
        const bool is_cut = bucket.owed_least + late > burst;
        bucket.most = is_cut ? burst : burst - bucket.owed_least;
        bucket.least = std::max(-1.0, burst - bucket.owed_most);
        bucket.is_sure = bucket.is_sure && is_known;
    }
}

void LimitModel::Bucket::forget() {
    owed_least = 0;
    owed_most = std::numeric_limits<double>::infinity();
    is_sure = false;
}

std::vector<LimitRule> LimitModel::rules() const {
    std::vector<LimitRule> all;
    for (const auto& [id, rule] : rules_) all.push_back(rule);
    return all;
}

// Of the quotas for one job type a tenant has its own, or that of its first profile, or the
// default.
const LimitRule* LimitModel::quota_for(const Lane& lane, const std::string& type) const {
    const auto find = [&](const std::string& tenant, const std::string& profile) {
        const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const auto& entry) {
            const LimitRule& rule = entry.second;
            return rule.kind == LimitKind::quota && rule.scope.type == type &&
                   rule.scope.tenant == tenant && rule.profile == profile;
        });
        return found == rules_.end() ? nullptr : &found->second;
    };
    if (const LimitRule* own = find(lane.tenant, "")) return own;
    for (const auto& [profile, given_to] : profiles_) {
        const bool is_given =
            std::find(given_to.begin(), given_to.end(), lane.tenant) != given_to.end();
        if (!is_given) continue;
        if (const LimitRule* given = find("", profile)) return given;
    }
    return find("", "");
}

std::vector<const LimitRule*> LimitModel::rules_for(const Lane& lane) const {
    std::vector<const LimitRule*> found;
    std::set<std::string> types;
    for (const auto& [id, rule] : rules_) {
        if (rule.kind == LimitKind::quota) {
            if (fits(rule.scope.type, lane.type)) types.insert(rule.scope.type);
        } else if (is_about(rule, lane)) {
            found.push_back(&rule);
        }
    }
    for (const std::string& type : types) {
        if (const LimitRule* quota = quota_for(lane, type)) found.push_back(quota);
    }
    return found;
}

// A quota holds until it is lifted.
LimitModel::Answer LimitModel::is_over(const LimitRule& rule) const {
    if (!rule.until || rule.kind == LimitKind::quota || *rule.until > now_ + clocks_differ_by_)
        return Answer::no;
    const bool is_certain = *rule.until + clocks_differ_by_ + engine_is_late_by <= now_;
    return is_certain ? Answer::yes : Answer::perhaps;
}

// ── meters ──

std::string LimitModel::meter_of(const LimitRule& rule, const Lane& lane) {
    std::string name;
    const auto add = [&](Dimension dimension, const char* text, const std::string& value) {
        if (!rule.per.has(dimension)) return;
        if (!name.empty()) name += ", ";
        name += std::string(text) + ' ' + (value.empty() ? "(none)" : value);
    };
    add(Dimension::tenant, "tenant", lane.tenant);
    add(Dimension::type, "type", lane.type);
    add(Dimension::queue, "queue", lane.queue);
    add(Dimension::source, "source", lane.source);
    return name;
}

std::string LimitModel::name_of(const LimitRule& rule, const Lane& lane) {
    return "rule " + rule.reason + " (" + std::string(to_text(rule.kind)) + ", " +
           meter_of(rule, lane) + ")";
}

void LimitModel::set_time(Timestamp now) {
    answers_.clear();
    if (now_ == Timestamp::min()) now_ = now;
    if (now >= now_) {
        elapsed_ += seconds_of(now - now_);
        now_ = now;
    } else if (now < now_ - 1s) {
        now_ = now;
        for (auto& [meter, bucket] : buckets_) bucket.forget();
    }
}

Timestamp LimitModel::after(double seconds) const {
    return now_ + std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
}

std::int64_t LimitModel::active(const LimitRule& rule, const std::string& meter) const {
    std::int64_t count = 0;
    for (const auto& [lane, leases] : leases_) {
        if (meter_of(rule, lane) != meter) continue;
        const auto rules = rules_for(lane);
        if (std::find(rules.begin(), rules.end(), &rule) != rules.end()) count += leases;
    }
    return count;
}

LimitModel::Bucket& LimitModel::bucket(const LimitRule& rule, const std::string& meter) {
    const auto [found, is_new] = buckets_.try_emplace({rule.id, meter});
    Bucket& bucket = found->second;
    if (is_new) {
        bucket.most = bucket.least = static_cast<double>(rule.rate->burst);
        bucket.at = elapsed_;
    }
    refill(rule, bucket);
    return bucket;
}

void LimitModel::refill(const LimitRule& rule, Bucket& bucket) const {
    const double more = (elapsed_ - bucket.at) * per_second(*rule.rate);
    const auto burst = static_cast<double>(rule.rate->burst);
    bucket.most = std::min(burst, bucket.most + more);
    bucket.least = std::min(burst, bucket.least + more);
    bucket.owed_least = std::max(0.0, bucket.owed_least - more);
    bucket.owed_most = std::max(0.0, bucket.owed_most - more);
    bucket.at = elapsed_;
    while (!bucket.starts.empty() && bucket.starts.front() < elapsed_ - hour - 4 * slot) {
        bucket.starts.pop_front();
    }
}

// ── starts ──

void LimitModel::set_leases(Leases leases) {
    leases_ = std::move(leases);
    answers_.clear();
}

void LimitModel::started(const std::vector<Lane>& lanes, Leases leases) {
    set_leases(std::move(leases));
    if (!has_rules()) return;
    for (const Lane& lane : lanes) {
        for (const LimitRule* rule : rules_for(lane)) start(*rule, lane);
    }
    for (const Lane& lane : lanes) check_active(lane);
}

void LimitModel::start(const LimitRule& rule, const Lane& lane) {
    const bool holds = is_over(rule) == Answer::no;
    demand(!rule.paused || !holds, name_of(rule, lane), ": a job started while it is paused");
    if (!rule.rate) return;
    Bucket& spent = bucket(rule, meter_of(rule, lane));
    const double error = seconds_of(clocks_differ_by_);
    const double tokens = spent.most + error * per_second(*rule.rate) + rounding;
    demand(!holds || tokens >= 1, name_of(rule, lane), ": a job started without a token");
    // A bucket may be empty when its rule is over.
    const bool was_sure = spent.is_sure;
    spent.most = std::max(spent.most - 1, 0.0);
    spent.least = was_sure ? std::max(spent.least - 1, -1.0) : -1.0;
    spent.is_sure = true;
    const auto burst = static_cast<double>(rule.rate->burst);
    if (holds || spent.owed_least < burst) spent.owed_least += 1;
    spent.owed_most += 1;
    if (!rule.rate->whole_hour) return;
    const auto in_the_hour =
        std::count_if(spent.starts.begin(), spent.starts.end(),
                      [&](double start) { return start > elapsed_ - hour + error; });
    demand(!holds || in_the_hour < rule.rate->count, name_of(rule, lane),
           ": too many jobs started within an hour");
    spent.starts.push_back(elapsed_);
}

void LimitModel::check_active(const Lane& lane) const {
    for (const LimitRule* rule : rules_for(lane)) {
        if (!rule->max_active || is_over(*rule) != Answer::no) continue;
        demand(active(*rule, meter_of(*rule, lane)) <= *rule->max_active, name_of(*rule, lane),
               ": more are active than it allows");
    }
}

void LimitModel::returned(const Lane& lane, std::string_view way) {
    const auto rules = rules_for(lane);
    const bool had_permit = std::any_of(rules.begin(), rules.end(), [](const LimitRule* rule) {
        return rule->max_active.has_value();
    });
    if (had_permit) coverage_.permit_back(way);
}

void LimitModel::submitted(const JobSpec& spec) const {
    for (const auto& [id, rule] : rules_) {
        const bool refuses = rule.refuses_submits && fits(rule.scope.tenant, spec.tenant) &&
                             is_over(rule) == Answer::no;
        demand(!refuses, "a job was accepted of a tenant whose submits rule ", rule.reason,
               " refuses");
    }
}

}  // namespace sluice::simulation
