// Changes of the rules about what may run: each is decided in a session of its own.
#include "application/engine/engine.hpp"
#include "application/engine/subjects.hpp"
#include "application/limits/ended_rules.hpp"
#include "application/limits/run_limit_changes.hpp"
#include "application/limits/stored_rules.hpp"
#include "application/ports/store_refusal.hpp"

namespace sluice {
namespace {

constexpr int lifted_max = 100;  // rules whose end has come, by one session
constexpr Duration lift_again_after = std::chrono::seconds(10);

}  // namespace

template <class Decide>
auto Engine::decide_alone(Timestamp now, Ran& ran, Decide&& decide) {
    Late late{.entities = {control_key()}};
    for (int tries = 1;; ++tries) {
        try {
            const auto session = store_.begin();
            session->reserve({.entities = late.entities});
            if (options_.clock) now = std::max(now, options_.clock->now());
            Transaction tx(*session, *options_.rules, now, ids_, chance_);
            auto answer = decide(tx);
            tx.flush();
            session->commit();
            note_reopened(session->reopened(), ran);
            const std::vector<JobId>& touched = tx.touched();
            ran.touched.insert(ran.touched.end(), touched.begin(), touched.end());
            return answer;
        } catch (const StoreFull&) {
            if (tries == tries_max || !store_.release_reserve()) throw;
        } catch (const EntitiesBusy& busy) {
            if (tries == tries_max) throw;
            late.entities.insert(late.entities.end(), busy.keys().begin(), busy.keys().end());
        } catch (const StoreConflict&) {
            if (tries == tries_max) throw;
        }
    }
}

void Engine::run_changes_of_limits(Batch& batch, Timestamp now, Ran& ran) {
    // One that loses against other sessions again and again is refused, and the other commands of
    // the batch go on.
    const auto decide = [&](auto& answers, auto&& use_case) {
        try {
            answers.emplace_back(decide_alone(now, ran, use_case));
        } catch (const StoreConflict& why) {
            answers.emplace_back(refusal_for(why));
        }
    };
    for (auto& pending : batch.limit_changes) {
        pending.answers.clear();
        for (const ChangeLimits& change : pending.items) {
            decide(pending.answers, [&](Transaction& tx) { return change_limits(tx, change); });
            ran.news.rules_changed =
                ran.news.rules_changed || (!change.dry_run && pending.answers.back());
        }
    }
    for (auto& pending : batch.meter_checks) {
        pending.answers.clear();
        for (const CheckMeters& check : pending.items) {
            decide(pending.answers, [&](Transaction& tx) { return check_meters(tx, check); });
        }
    }
}

// The engine that has the waiting claims looks itself: nobody tells it.
void Engine::note_reopened(std::vector<Readied> lanes, Ran& ran) {
    auto& list = options_.sweeps ? reopened_ : ran.news.readied;
    std::move(lanes.begin(), lanes.end(), std::back_inserter(list));
}

void Engine::note_rules(Transaction& tx) {
    std::shared_ptr<const LimitRules> rules = tx.limits().limit_rules();
    if (rules == rules_) return;
    rules_ = std::move(rules);
    rules_end_ = options_.sweeps ? next_end(*rules_) : never;
    if (options_.published != nullptr) options_.published->publish(rules_);
}

// Of several nodes the first one does it, and the others find nothing to do.
void Engine::lift_ended(Timestamp now, Ran& ran) {
    if (rules_end_ > now) return;
    rules_end_ = now + lift_again_after;  // should it fail, or leave some of them
    if (store_.space() != StoreSpace::ample) return;
    DutyRun run{.duty = duty::ended_rules.name, .at = now};
    try {
        Timestamp next = never;
        run.items = decide_alone(now, ran, [&](Transaction& tx) {
            const int lifted = lift_ended_rules(tx, lifted_max);
            next = next_end(*tx.limits().limit_rules());
            return lifted;
        });
        if (run.items > 0) {
            duties_.store_is_due({});  // waiting claims may have jobs now
            rules_end_ = next;
            ran.news.rules_changed = true;
        }
    } catch (const StoreUnavailable& why) {
        run.failed = true;
        run.error = why.what();
    }
    ran.counts.duties.push_back(std::move(run));
}

}  // namespace sluice
