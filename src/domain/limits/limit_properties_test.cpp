// What is true of any rules, meters and times.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "domain/limits/limit_rules.hpp"

namespace sluice {
namespace limit_properties_test {

using namespace std::chrono_literals;

constexpr Timestamp start = from_micros(1'767'225'600'000'000);

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}

    std::int64_t below(std::int64_t end) {
        return std::uniform_int_distribution<std::int64_t>(0, end - 1)(engine_);
    }
    bool one_in(int count) { return below(count) == 0; }
    template <class Value>
    const Value& of(const std::vector<Value>& values) {
        return values[static_cast<std::size_t>(below(std::ssize(values)))];
    }
    template <class Value>
    void shuffle(std::vector<Value>& values) {
        std::shuffle(values.begin(), values.end(), engine_);
    }

    LimitRule bounds() {
        LimitRule rule{.id = "r"};
        if (one_in(2)) rule.max_active = 1 + below(4);
        if (one_in(2)) {
            rule.rate = LimitRate{.count = 1 + below(20),
                                  .period = from_millis(1 + below(100'000)),
                                  .burst = 1 + below(6)};
            if (one_in(3)) *rule.rate = hourly_rate(1 + below(20), 1 + below(30));
        }
        rule.paused = one_in(6);
        if (one_in(3)) rule.until = start + Duration{below(7'200'000'000)};
        return rule;
    }
    // Some starts and ends of the two hours before `start`, some of them under a former limit.
    MeterState use(const LimitRule& rule) {
        MeterState meter;
        LimitRule former = rule;
        if (former.rate && one_in(3)) former.rate->burst += below(10);
        former.paused = false;
        for (Timestamp now = start - 2h; now < start; now += Duration{below(1'000'000'000)}) {
            for (auto left = below(3); left > 0 && room_of(former, meter, now).count > 0; --left) {
                note_start(former, meter, now);
                if (rule.max_active && one_in(3)) note_end(rule, meter);
            }
        }
        settle(rule, meter, start);
        return meter;
    }

  private:
    std::mt19937 engine_;
};

struct Covered {
    std::vector<LimitRule> rules;
    std::vector<MeterState> states;

    std::vector<Permit> permits() const {
        std::vector<Permit> all;
        for (const LimitRule& rule : rules) all.push_back({&rule, 0});
        return all;
    }
    Admission admission(Timestamp now) const {
        std::vector<const MeterState*> meters;
        for (const MeterState& state : states) meters.push_back(&state);
        return admission_of(permits(), meters, now);
    }
    void add(Random& random) {
        rules.push_back(random.bounds());
        states.push_back(random.use(rules.back()));
    }
};

Covered some(Random& random) {
    Covered covered;
    for (auto left = 1 + random.below(5); left > 0; --left) covered.add(random);
    return covered;
}

constexpr unsigned seeds = 2000;

// ── time ──

TEST(LimitProperties, NoRoomIsLostByTimeAlone) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        Random random(seed);
        const LimitRule rule = random.bounds();
        const MeterState meter = random.use(rule);
        Timestamp now = start - 1h;
        std::int64_t before = 0;
        for (int i = 0; i < 50; ++i, now += Duration{random.below(600'000'000)}) {
            const std::int64_t count = room_of(rule, meter, now).count;
            ASSERT_GE(count, before) << "seed " << seed;
            before = count;
        }
    }
}

// The clock is set back now and then, also by a restart. Tokens come with the time that passes, and
// no time is paid for twice.
TEST(LimitProperties, ABucketGivesNoMoreThanItsBurstAndWhatCameBackWhateverTheClockDoes) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        Random random(seed);
        LimitRule rule{.id = "r"};
        rule.rate = LimitRate{.count = 1 + random.below(50),
                              .period = from_millis(1 + random.below(5000)),
                              .burst = 1 + random.below(9)};
        MeterState meter;
        Timestamp now = start;
        Duration passed{};
        std::int64_t started = 0;
        for (int i = 0; i < 200; ++i) {
            if (random.one_in(10)) {
                now -= Duration{random.below(20'000'000)};
                if (random.one_in(2)) settle(rule, meter, now);
            } else {
                const Duration step{random.below(random.one_in(4) ? 3'000'000 : 3000)};
                now += step;
                passed += step;
            }
            for (; room_of(rule, meter, now).count > 0; ++started) note_start(rule, meter, now);
            const double most = static_cast<double>(rule.rate->burst) +
                                static_cast<double>(passed.count()) *
                                    static_cast<double>(rule.rate->count) /
                                    static_cast<double>(rule.rate->period.count());
            ASSERT_LE(static_cast<double>(started), most + 1e-6) << "seed " << seed;
        }
    }
}

TEST(LimitProperties, AStartCountsForAnHourAndForNoMoreThanThirtySecondsLonger) {
    LimitRule rule{.id = "r"};
    rule.rate = hourly_rate(1, 1);
    for (int i = 0; i < 7200; ++i) {
        const Timestamp begin = start + i * 1s + 1us;
        MeterState meter;
        note_start(rule, meter, begin);
        ASSERT_EQ(room_of(rule, meter, begin + 1h - 1us).count, 0) << i;
        ASSERT_EQ(room_of(rule, meter, begin + 1h + 30s).count, 1) << i;
    }
}

TEST(LimitProperties, TwoStartsOfDifferentHoursOfTheDayCountTogether) {
    LimitRule rule{.id = "r"};
    rule.rate = hourly_rate(2, 2);
    MeterState meter;
    note_start(rule, meter, start + 59min + 59s);
    note_start(rule, meter, start + 60min + 1s);

    EXPECT_EQ(room_of(rule, meter, start + 61min).bound, Bound::hour);
    EXPECT_EQ(room_of(rule, meter, start + 119min + 58s).count, 0);
    EXPECT_EQ(room_of(rule, meter, start + 120min + 10s).count, 1);
}

// ── several rules ──

TEST(LimitProperties, AFurtherRuleNeverAdmitsMore) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        Random random(seed);
        Covered covered = some(random);
        const std::int64_t before = covered.admission(start).count;
        covered.add(random);
        ASSERT_LE(covered.admission(start).count, before) << "seed " << seed;
    }
}

TEST(LimitProperties, AHigherLimitNeverAdmitsLess) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        Random random(seed);
        Covered covered = some(random);
        const std::int64_t before = covered.admission(start).count;
        LimitRule& rule = covered.rules.front();
        if (rule.max_active) *rule.max_active += 1 + random.below(5);
        if (rule.rate) rule.rate->burst += random.below(5);
        if (rule.rate && rule.rate->whole_hour && random.one_in(2)) {
            rule.rate->whole_hour = false;
        }
        if (random.one_in(2)) rule.paused = false;
        ASSERT_GE(covered.admission(start).count, before) << "seed " << seed;
    }
}

TEST(LimitProperties, TheOrderOfRulesDoesNotMatter) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        Random random(seed);
        const Covered covered = some(random);
        std::vector<std::size_t> order(covered.rules.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        random.shuffle(order);
        Covered mixed;
        for (const std::size_t i : order) {
            mixed.rules.push_back(covered.rules[i]);
            mixed.states.push_back(covered.states[i]);
        }
        const Admission one = covered.admission(start), other = mixed.admission(start);
        ASSERT_EQ(one.count, other.count) << "seed " << seed;
        ASSERT_EQ(one.look_again, other.look_again) << "seed " << seed;
    }
}

TEST(LimitProperties, AVerdictNamesARuleThatIsClosedAndWhenTimeAloneOpensTheLane) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        Random random(seed);
        const Covered covered = some(random);
        const Admission closed = covered.admission(start);
        if (closed.count > 0) continue;
        SCOPED_TRACE(seed);
        ASSERT_EQ(
            room_of(covered.rules[closed.closed_by], covered.states[closed.closed_by], start).count,
            0);
        if (closed.look_again == never) {
            ASSERT_EQ(covered.admission(start + 24h * 365 * 100).count, 0);
            continue;
        }
        ASSERT_GT(closed.look_again, start);
        ASSERT_EQ(covered.admission(closed.look_again - 1us).count, 0);
        ASSERT_GT(covered.admission(closed.look_again).count, 0);
    }
}

TEST(LimitProperties, BeforeTheMomentThatPeopleAreToldNothingStarts) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        Random random(seed);
        const Covered covered = some(random);
        const auto closed = closed_permits({}, covered.permits(), covered.states, start);
        const auto not_before = next_eligible_at(closed);
        SCOPED_TRACE(seed);
        ASSERT_EQ(closed.empty(), covered.admission(start).count > 0);
        if (not_before) {
            ASSERT_EQ(covered.admission(*not_before - 1us).count, 0);
        }
        for (const ClosedPermit& permit : closed) {
            const bool opens_by_itself =
                permit.room.not_before && permit.room.look_again == *permit.room.not_before;
            if (!opens_by_itself) continue;
            ASSERT_GT(room_of(*permit.rule, permit.state, *permit.room.not_before).count, 0);
        }
    }
}

// ── which rules cover a lane ──

// By the words of docs/limits.md, without any index.
class Meant {
  public:
    Meant(const std::vector<LimitRule>& rules, const LimitRules::Profiles& profiles)
        : rules_(rules), profiles_(profiles) {}

    std::set<std::string> rules_of(const Lane& lane) const {
        std::set<std::string> ids;
        std::set<std::string> types_of_quotas;
        for (const LimitRule& rule : rules_) {
            if (rule.kind == LimitKind::quota) {
                if (is_meant(rule.scope.type, lane.type)) types_of_quotas.insert(rule.scope.type);
            } else if (rule.scope.covers(lane)) {
                ids.insert(rule.id);
            }
        }
        for (const std::string& type : types_of_quotas) {
            if (const LimitRule* rule = quota_of(lane.tenant, type)) ids.insert(rule->id);
        }
        return ids;
    }

  private:
    static bool is_meant(const std::string& pattern, const std::string& name) {
        if (pattern.empty() || pattern == name) return true;
        return pattern.back() == '*' &&
               name.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0;
    }
    const LimitRule* quota_of(const std::string& tenant, const std::string& type) const {
        if (const LimitRule* own = find(type, tenant, "")) return own;
        for (const auto& [profile, tenants] : profiles_) {
            if (std::find(tenants.begin(), tenants.end(), tenant) == tenants.end()) continue;
            if (const LimitRule* given = find(type, "", profile)) return given;
        }
        return find(type, "", "");
    }
    const LimitRule* find(const std::string& type, const std::string& tenant,
                          const std::string& profile) const {
        for (const LimitRule& rule : rules_) {
            if (rule.kind == LimitKind::quota && rule.scope.type == type &&
                rule.scope.tenant == tenant && rule.profile == profile) {
                return &rule;
            }
        }
        return nullptr;
    }

    const std::vector<LimitRule>& rules_;
    const LimitRules::Profiles& profiles_;
};

const std::vector<std::string> names{"a", "ab", "a.b", "a.b.c", "b"};
const std::vector<std::string> patterns{"", "", "a", "ab", "a.b", "b", "a*", "a.*", "a.b*", "b*"};

std::vector<LimitRule> some_rules(Random& random) {
    std::vector<LimitRule> rules;
    std::set<std::tuple<std::string, std::string, std::string>> quotas;
    for (auto left = random.below(25); left > 0; --left) {
        LimitRule rule{.id = "rule " + std::to_string(left)};
        rule.max_active = 1;
        rule.kind = random.of<LimitKind>({LimitKind::quota, LimitKind::limit, LimitKind::throttle});
        rule.scope.type = random.of(patterns);
        if (rule.kind == LimitKind::quota) {
            const auto whose = random.below(3);
            if (whose == 0) rule.scope.tenant = random.of(names);
            if (whose == 1) rule.profile = random.of<std::string>({"gold", "tin"});
            if (!quotas.emplace(rule.scope.type, rule.scope.tenant, rule.profile).second) continue;
        } else {
            rule.scope.tenant = random.of(patterns);
            rule.scope.queue = random.of(patterns);
            rule.scope.source = random.of(patterns);
        }
        rules.push_back(std::move(rule));
    }
    return rules;
}

TEST(LimitProperties, ALaneNeedsThePermitsOfTheRulesThatAreMeant) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        Random random(seed);
        const std::vector<LimitRule> rules = some_rules(random);
        LimitRules::Profiles profiles;
        for (const char* profile : {"gold", "tin"}) {
            for (const std::string& tenant : names) {
                if (random.one_in(3)) profiles[profile].push_back(tenant);
            }
        }
        const LimitRules index(1, rules, profiles);
        const Meant meant(rules, profiles);
        for (int i = 0; i < 20; ++i) {
            const Lane lane{.tenant = random.of(names),
                            .queue = random.of(names),
                            .type = random.of(names),
                            .labels = {},
                            .source = random.one_in(2) ? "" : random.of(names)};
            std::set<std::string> ids;
            for (const Permit& permit : index.permits_of(lane)) {
                ASSERT_TRUE(ids.insert(permit.rule->id).second) << "once each, seed " << seed;
            }
            ASSERT_EQ(ids, meant.rules_of(lane)) << "seed " << seed;
        }
    }
}

// ── huge numbers ──

TEST(LimitProperties, HugeNumbersAreNoneThatCountWrongly) {
    constexpr std::int64_t huge = 1'000'000'000;
    const LimitRate rates[] = {{.count = huge, .period = 24h, .burst = huge},
                               {.count = huge, .period = 10ms, .burst = huge},
                               {.count = 1, .period = 24h, .burst = 31},
                               hourly_rate(huge, huge)};
    const Timestamp times[] = {Timestamp{}, start, from_micros(7'900'000'000'000'000)};
    for (const LimitRate& rate : rates) {
        for (const Timestamp now : times) {
            LimitRule rule{.id = "r"};
            rule.rate = rate;
            rule.max_active = huge;
            MeterState meter;
            ASSERT_EQ(room_of(rule, meter, now).count, std::min(rate.burst, huge));
            for (int i = 0; i < 40; ++i) note_start(rule, meter, now);
            ASSERT_EQ(tokens_of(rate, meter, now), std::max<std::int64_t>(rate.burst - 40, 0));
            ASSERT_EQ(room_of(rule, meter, now + 24h * 31).count > 0, true);
        }
    }
}

TEST(LimitProperties, ADamagedMeterIsAnEmptyOrAFullOne) {
    LimitRule rule{.id = "r"};
    rule.rate = LimitRate{.count = 1, .period = 10s, .burst = 3};
    const MeterState late{.full_at_ns = INT64_MAX}, early{.full_at_ns = INT64_MIN};

    EXPECT_EQ(tokens_of(*rule.rate, late, start), 0);
    EXPECT_EQ(room_of(rule, late, start).look_again, start + 10s);
    EXPECT_EQ(tokens_of(*rule.rate, early, start), 3);
    EXPECT_EQ(room_of(rule, {.active = INT64_MAX}, start).count, 3);
    MeterState owes{.owed_until_ns = INT64_MAX};
    note_start(rule, owes, start);
    follow_rate(*rule.rate, {.count = 1, .period = 10s, .burst = 31}, owes, start);
    EXPECT_EQ(tokens_of({.count = 1, .period = 10s, .burst = 31}, owes, start), 0);
}

}  // namespace limit_properties_test
}  // namespace sluice
