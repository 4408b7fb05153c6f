// The state that actors share, and the jobs that they make.
#include <algorithm>

#include "nodes/actors.hpp"

namespace sluice::nodes {
namespace {

using e2e::Fields;
using e2e::Json;
using e2e::List;
using simulation::Dice;

constexpr int exclusive_keys = 6;
constexpr int gadgets = 4;
constexpr std::size_t recent_jobs = 30;

Json any_backoff(Dice& dice) {
    if (dice.one_in(3)) return "none";
    if (dice.one_in(2)) return List{20, 150};
    return Fields{{"kind", "exponential"}, {"base_ms", 20}, {"cap_ms", 200}};
}

int any_timeout(Dice& dice) {
    if (dice.one_in(5)) return 0;
    return dice.one_in(4) ? 100 + dice.below(1500) : 60'000;
}

// Earlier jobs; now and then one of the other tenant, which must be refused.
List any_dependencies(Stage& stage, Dice& dice, const std::string& tenant) {
    List depends_on;
    for (int i = dice.below(2); i >= 0; --i) {
        const auto earlier =
            dice.one_in(20) ? stage.foreign_job(dice, tenant) : stage.recent_job(dice, tenant);
        if (earlier) depends_on.emplace_back(*earlier);
    }
    if (depends_on.size() == 2 && depends_on[0] == depends_on[1]) depends_on.pop_back();
    return depends_on;
}

// Adds what a job may have to wait for.
void add_waits(Fields& job, Stage& stage, Dice& dice, const std::string& tenant) {
    if (dice.percent(25)) {
        List keys;
        keys.emplace_back("key-" + std::to_string(dice.below(exclusive_keys)));
        if (dice.one_in(4)) keys.emplace_back("rare-key");
        job["exclusive_keys"] = std::move(keys);
    }
    if (dice.percent(4)) job["site_id"] = "site-" + std::to_string(dice.below(2));
    if (dice.percent(15)) job["delay_ms"] = 50 + dice.below(1000);
    if (dice.percent(15)) {
        job["depends_on"] = any_dependencies(stage, dice, tenant);
        if (dice.one_in(3)) job["on_dependency_failure"] = "run";
    }
}

}  // namespace

Fields new_job(Stage& stage, Dice& dice, const std::string& tenant, const std::string& mark) {
    Fields job{{"type", "task"},
               {"queue", queue_name},
               {"tenant", tenant},
               {"correlation_id", mark},
               {"payload",
                Fields{{"mark", mark}, {"filler", std::string(dice.one_in(20) ? 5000 : 10, 'x')}}},
               {"priority", dice.below(5) - 2},
               {"max_attempts", 1 + dice.below(4)},
               {"backoff", any_backoff(dice)},
               {"timeout_ms", any_timeout(dice)}};
    if (dice.percent(10)) {
        job["type"] = gadget_job_type;
        job["entity_type"] = gadget_kind;
        job["entity_id"] = "gadget-" + std::to_string(dice.below(gadgets));
    }
    if (dice.percent(60)) job["source"] = any_source(dice);
    add_waits(job, stage, dice, tenant);
    return job;
}

void Stage::remember(const std::string& job, const std::string& tenant) {
    const std::lock_guard lock(mutex_);
    jobs_[tenant].push_back(job);
    all_.push_back({job, tenant});
}

std::vector<Stage::Known> Stage::jobs_after(std::size_t count) {
    const std::lock_guard lock(mutex_);
    return {all_.begin() + static_cast<std::ptrdiff_t>(count), all_.end()};
}

std::optional<std::string> Stage::any_job(Dice& dice, const std::string& tenant) {
    // Half of the time a job that probably still changes.
    if (dice.one_in(2)) return recent_job(dice, tenant);
    const std::lock_guard lock(mutex_);
    const auto& jobs = jobs_[tenant];
    if (jobs.empty()) return std::nullopt;
    return dice.pick(jobs);
}

std::optional<std::string> Stage::recent_job(Dice& dice, const std::string& tenant) {
    const std::lock_guard lock(mutex_);
    const auto& jobs = jobs_[tenant];
    if (jobs.empty()) return std::nullopt;
    const std::size_t among = std::min(jobs.size(), recent_jobs);
    return jobs[jobs.size() - 1 - static_cast<std::size_t>(dice.below(static_cast<int>(among)))];
}

std::optional<std::string> Stage::foreign_job(Dice& dice, const std::string& tenant) {
    return recent_job(dice, tenant == tenants[0] ? tenants[1] : tenants[0]);
}

}  // namespace sluice::nodes
