#include <algorithm>

#include "application/limits/change_limits.hpp"
#include "application/limits/pauses.hpp"
#include "simulation/names.hpp"
#include "simulation/world.hpp"

// Requests of operators: rules about what may run are added, changed and lifted, leases are
// released, and the engine is asked what its rules hold back. Every answer is compared with what
// the model makes of the same rules.
namespace sluice::simulation {
namespace {

using namespace std::chrono_literals;

ChangeReason because(const LimitRule& rule) {
    return {.actor = "operator", .reason = rule.reason};
}

// Rules that would keep jobs from ending for too long.
bool is_to_be_lifted(const LimitRule& rule, Timestamp now) {
    const bool ends_soon = rule.until && *rule.until <= now + 30s;
    const bool is_slow = rule.rate && rule.rate->period > rule.rate->count * 1s;
    return (rule.paused && !ends_soon) || is_slow;
}

// As the API writes a quota: it counts each tenant apart, and its type if it is for one.
LimitRule new_quota(Dice& dice) {
    LimitRule rule{.kind = LimitKind::quota};
    switch (dice.below(4)) {
        case 0: break;
        case 1: rule.profile = dice.one_in(2) ? "gold" : "iron"; break;
        default: rule.scope.tenant = dice.pick(tenants);
    }
    rule.per = {Dimension::tenant};
    if (dice.one_in(2)) {
        rule.scope.type = dice.one_in(3) ? "b*" : dice.pick(job_types);
        if (rule.scope.type != "b*") rule.per.add(Dimension::type);
    }
    return rule;
}

LimitRule new_limit(Dice& dice) {
    LimitRule rule{.kind = dice.one_in(2) ? LimitKind::limit : LimitKind::throttle};
    if (dice.one_in(4)) rule.scope.tenant = dice.one_in(2) ? "u*" : dice.pick(tenants);
    if (dice.one_in(3)) rule.scope.type = dice.one_in(2) ? "d*" : dice.pick(job_types);
    if (dice.one_in(4)) rule.scope.queue = dice.pick(queues);
    if (dice.one_in(4)) rule.scope.source = dice.one_in(2) ? "n*" : "push";
    for (const Dimension dimension : all_dimensions) {
        if (dice.one_in(4)) rule.per.add(dimension);
    }
    return rule;
}

LimitRate new_rate(Dice& dice) {
    static const std::vector<Duration> periods{1s, 2s, 5s};
    return {.count = 1 + dice.below(4), .period = dice.pick(periods), .burst = 1 + dice.below(3)};
}

LimitRate starts_in_an_hour(Dice& dice) {
    const int count = 2 + dice.below(6);
    return {.count = count, .period = 1h, .burst = dice.one_in(4) ? 1 : count, .whole_hour = true};
}

void bound(LimitRule& rule, Dice& dice) {
    const bool is_quota = rule.kind == LimitKind::quota;
    rule.paused = dice.one_in(12);
    rule.max_active.reset();
    rule.rate.reset();
    if (!dice.one_in(3)) rule.max_active = 1 + dice.below(3);
    if (!rule.max_active || dice.one_in(4)) {
        rule.rate = is_quota ? starts_in_an_hour(dice) : new_rate(dice);
    }
}

}  // namespace

Task<void> World::operate() {
    while (is_chaos()) {
        co_await timeline_.sleep(1ms * limit_dice_.below(8000));
        co_await one_change();
    }
    co_await lift_for_the_end();
}

Task<void> World::one_change() {
    const std::vector<LimitRule> rules = checker_.limits().rules();
    const int choice = limit_dice_.below(16);
    if (choice < 4 || (choice < 10 && rules.empty())) {
        co_await put(new_rule());
    } else if (choice < 6) {
        LimitRule changed = limit_dice_.pick(rules);
        if (changed.has_meter()) bound(changed, limit_dice_);
        if (limit_dice_.one_in(15)) changed.id = "there is no such rule";
        co_await put(changed);
    } else if (choice < 10) {
        co_await lift(limit_dice_.pick(rules));
    } else if (choice == 10) {
        co_await put(new_pause());
    } else if (choice == 11) {
        co_await set_profile();
    } else if (choice < 14) {
        co_await release_lease();
    } else {
        co_await ask_start();
    }
}

// Ends of rules are kept in milliseconds.
Timestamp World::end_within(int seconds) {
    return std::chrono::floor<std::chrono::milliseconds>(client_time()) +
           1s * (1 + limit_dice_.below(seconds));
}

LimitRule World::new_rule() {
    LimitRule rule = limit_dice_.one_in(2) ? new_quota(limit_dice_) : new_limit(limit_dice_);
    bound(rule, limit_dice_);
    const bool may_end = rule.kind == LimitKind::throttle || rule.kind == LimitKind::quota;
    if (may_end && !limit_dice_.one_in(3)) rule.until = end_within(20);
    return rule;
}

LimitRule World::new_pause() {
    LimitRule rule{.paused = true};
    switch (limit_dice_.below(4)) {
        case 0: rule.kind = LimitKind::maintenance; break;
        case 1:
            rule.kind = LimitKind::maintenance;
            rule.scope.tenant = limit_dice_.pick(tenants);
            break;
        case 2:
            rule.kind = LimitKind::block;
            rule.scope.tenant = limit_dice_.pick(tenants);
            break;
        default:
            rule.kind = LimitKind::throttle;
            rule.scope.source = limit_dice_.pick(sources);
            if (rule.scope.source.empty()) rule.scope.queue = "slow";
    }
    rule.refuses_submits = rule.kind != LimitKind::throttle && limit_dice_.one_in(2);
    if (!limit_dice_.one_in(3)) rule.until = end_within(15);
    return rule;
}

Task<void> World::change_rules(const char* what, ChangeLimits change) {
    const auto reply = co_await ask(what, change);
    if (reply.is_ok() || !reply.answer || is_passing(reply.answer->error().code)) co_return;
    const ErrorCode code = reply.answer->error().code;
    const bool is_expected =
        code == ErrorCode::conflict || code == ErrorCode::not_found || code == ErrorCode::invalid;
    demand(is_expected, what, " is refused with: ", reply.answer->error().message);
}

// A rule that is only tried is not known to the model: it must never be found in the store.
Task<void> World::put(LimitRule rule) {
    rule.reason = "change " + std::to_string(++changes_);
    ChangeLimits change{.dry_run = limit_dice_.one_in(10)};
    if (!change.dry_run) checker_.limits().asked(rule.reason, rule);
    const bool is_pause_alone = rule.id.empty() && is_pause(rule);
    change.decide = [rule, is_pause_alone](EntityChanges& changes) {
        return is_pause_alone ? put_pause(changes, rule, because(rule))
                              : put_rule(changes, rule, because(rule));
    };
    co_await change_rules("put rule", std::move(change));
}

Task<void> World::lift(LimitRule rule) {
    ChangeLimits change;
    change.decide = [rule](EntityChanges& changes) {
        return lift_rule(changes, rule.id, because(rule));
    };
    co_await change_rules("lift rule", std::move(change));
}

Task<void> World::set_profile() {
    const std::string name = limit_dice_.one_in(2) ? "gold" : "iron";
    std::vector<std::string> given;
    for (const std::string& tenant : tenants) {
        if (limit_dice_.one_in(2)) given.push_back(tenant);
    }
    ChangeLimits change;
    change.decide = [name, given](EntityChanges& changes) {
        return put_profile(changes, name, given, {.actor = "operator", .reason = "chance"});
    };
    co_await change_rules("set profile", std::move(change));
}

Task<void> World::release_lease() {
    const std::vector<JobId> leased = checker_.leased();
    if (leased.empty()) co_return;
    const JobId job = limit_dice_.pick(leased);
    const std::string tenant = checker_.last_seen(job)->spec->tenant;
    const bool meddles = limit_dice_.one_in(6);
    const ReleaseLease command{
        .job = job,
        .tenant = meddles == (tenant == tenants[0]) ? tenants[1] : tenants[0],
        .reason = "it hangs",
        .actor = "operator"};
    if (!meddles) ledger_.may_be_released(job);
    const auto reply = co_await ask("release lease", command);
    if (meddles) demand_unknown(reply.answer);
}

Task<void> World::ask_start() {
    const AskStart question{.lane = {.tenant = limit_dice_.pick(tenants),
                                     .queue = limit_dice_.pick(queues),
                                     .type = limit_dice_.pick(job_types),
                                     .source = limit_dice_.pick(sources)}};
    co_await ask("can start", question);
}

// Also rules that are asked for by messages that are late.
Task<void> World::lift_for_the_end() {
    const Timestamp last_message = timeline_.now() + 20s;
    for (;;) {
        const std::vector<LimitRule> rules = checker_.limits().rules();
        const auto slow = std::find_if(rules.begin(), rules.end(), [&](const LimitRule& rule) {
            return is_to_be_lifted(rule, client_time());
        });
        if (slow == rules.end()) {
            if (timeline_.now() > last_message) co_return;
            co_await timeline_.sleep(5s);
            continue;
        }
        const LimitRule lifted = *slow;
        co_await lift(lifted);
        co_await timeline_.sleep(100ms);
    }
}

// ── what the engine tells ──

// The node is asked for its meters, and to compare them with the leases itself.
void World::audit(Node& node) {
    node.post_one<CheckMeters>({}, [](const auto&) {});
    node.post_one<AskLimits>({}, [this, &node](const auto& answer) {
        if (answer) audited_.insert(node.number());
    });
}

void World::audit_the_end() {
    const Timestamp end = timeline_.now() + 1min;
    const auto wait_until = [&](auto&& is_so) {
        while (!std::all_of(nodes_.begin(), nodes_.end(), is_so)) {
            demand(timeline_.step(end), "nobody tells what the meters are in the end");
        }
    };
    wait_until([](const auto& node) { return node->is_up(); });
    audited_.clear();
    for (const auto& node : nodes_) audit(*node);
    wait_until([&](const auto& node) { return audited_.contains(node->number()); });
}

void World::check_answers(const Batch& batch) {
    for (const auto& pending : batch.meter_checks) {
        const auto& answer = pending.answers.front();
        demand(!answer || answer->empty(), "a meter does not agree with the leases");
    }
    for (const auto& pending : batch.limits) {
        if (pending.answers.front()) checker_.limits().check_use(*pending.answers.front());
    }
    for (const auto& pending : batch.starts) {
        const auto& answer = pending.answers.front();
        if (!answer) continue;
        std::vector<LimitModel::Told> told;
        std::optional<Timestamp> last;
        for (const HeldBy& held : answer->held_by) {
            told.push_back({held.rule, held.code, held.until});
            last = std::max(last, held.until);
        }
        demand(answer->next_eligible_at == last, "the next eligible moment is that of no rule");
        checker_.limits().check_told(pending.items.front().lane, told);
    }
    for (const auto& pending : batch.explains) {
        const auto& answer = pending.answers.front();
        if (!answer || answer->state != JobState::queued) continue;
        std::vector<LimitModel::Told> told;
        for (const Reason& reason : answer->reasons) {
            if (reason.blocker_kind != "limit") continue;
            told.push_back({reason.blocker, reason.code, reason.until});
        }
        const auto job = checker_.last_seen(pending.items.front().job);
        checker_.limits().check_told(lane_of(job->spec), told);
    }
}

}  // namespace sluice::simulation
