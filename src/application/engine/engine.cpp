#include "application/engine/engine.hpp"

#include <algorithm>

#include "application/engine/run_kind.hpp"
#include "application/engine/subjects.hpp"
#include "application/entities/run_entity_actions.hpp"
#include "application/jobs/cancel_jobs.hpp"
#include "application/jobs/explain_job.hpp"
#include "application/jobs/replay_jobs.hpp"
#include "application/jobs/submit_jobs.hpp"
#include "application/leases/append_logs.hpp"
#include "application/leases/hand_back_jobs.hpp"
#include "application/leases/heartbeat_jobs.hpp"
#include "application/leases/release_leases.hpp"
#include "application/leases/report_jobs.hpp"
#include "application/limits/limits_now.hpp"
#include "application/ports/store_refusal.hpp"

namespace sluice {
namespace {

constexpr Duration retry_period = std::chrono::seconds(1);

// The bytes of the log lines that the batch has stored.
std::size_t accepted_log_bytes(const Batch& batch) {
    std::size_t bytes = 0;
    for (const auto& pending : batch.logs) {
        for (std::size_t i = 0; i < pending.items.size(); ++i) {
            if (pending.answers[i]) bytes += bytes_of(pending.items[i]);
        }
    }
    return bytes;
}

template <class Item, class Answer, class Ask>
void answer_each(std::vector<Pending<Item, Answer>>& pendings, Ask&& ask) {
    for (auto& pending : pendings) {
        pending.answers.clear();
        for (const Item& item : pending.items) pending.answers.emplace_back(ask(item));
    }
}

}  // namespace

Engine::Engine(Store& store, Options options)
    : store_(store),
      options_(options),
      ids_(store.seat().value_or(options.node)),
      chance_(options.seed),
      duties_({.sweeps = options.sweeps,
               .idempotency_memory = options.idempotency_memory,
               .retention = options.retention},
              workers_) {
    ids_.skip_to(store.last_id());
}

Timestamp Engine::next_due() const {
    if (!reopened_.empty()) return retry_at_;
    return std::min(next_work(), waiting_claims_.next_timeout());
}

Timestamp Engine::next_work() const {
    return std::max(std::min(duties_.next_due(), rules_end_), retry_at_);
}

bool Engine::wants_a_turn(Timestamp now) const {
    return retry_at_ <= now && (rules_end_ <= now || duties_.is_due(Duties::Turn::apart, now));
}

Engine::Ran Engine::run(Batch& batch, Timestamp now) {
    Ran ran;
    ran.counts.commands = batch.size();
    std::vector<PendingClaim> answered = answer_without_store(batch, now);
    std::move(reopened_.begin(), reopened_.end(), std::back_inserter(batch.readied_elsewhere));
    reopened_.clear();
    duties_.store_may_be_due(batch.look_at);
    HeartbeatDelays* const delays = options_.sweeps ? nullptr : options_.delays;
    if (delays) delays->begin(*this);
    if (has_something_to_do(batch, now)) {
        try {
            if (leases_wait()) give_back_lease_time(now);
            run_changes_of_limits(batch, now, ran);
            run_until_decided(batch, now, ran);
            let_claims_wait(batch, now);
            if (batch.size() == 0) {
                lift_ended(now, ran);
                run_duties_apart(now, ran);
            }
        } catch (const StoreUnavailable& unavailable) {
            store_failed(batch, now, unavailable, ran);
        }
    }
    if (delays) delays->end(*this, ran.counts.has_failed());
    std::move(answered.begin(), answered.end(), std::back_inserter(batch.claims));
    ran.counts.space = store_.space();
    if (options_.sweeps) ran.counts.waiting_claims = waiting_claims_.size();
    ran.news.waiting_claims = ran.counts.waiting_claims;
    return ran;
}

void Engine::store_failed(Batch& batch, Timestamp now, const StoreUnavailable& why, Ran& ran) {
    ran.counts.failure = why.what();
    ran.counts.duties = duties_.take_runs(false);
    store_is_shaky_ = true;
    const bool is_conflict = dynamic_cast<const StoreConflict*>(&why) != nullptr;
    if (options_.sweeps && !is_conflict && !leases_wait_since_) leases_wait_since_ = now;
    duties_.store_is_due({});  // whether the batch was written is not known: ask the store again
    retry_at_ = now + retry_period;
    batch.refuse(refusal_for(why));
}

// In a session of its own, before anything is decided: rows that a session has read already must
// not change under it. As long as the time cannot be given back, no lease runs out.
void Engine::give_back_lease_time(Timestamp now) {
    const Duration at_others = options_.delays ? options_.delays->owed() : Duration{};
    const Duration here = leases_wait_since_ ? now - *leases_wait_since_ : Duration{};
    if (!leases_wait_since_ && at_others <= Duration{}) return;
    try {
        const auto session = store_.begin();
        session->leases().give_back(std::max(here, at_others), now);
        session->commit();
        leases_wait_since_.reset();
        if (options_.delays) options_.delays->settle(at_others);
    } catch (const StoreFull&) {
        // The batch may succeed: it may need no write.
    } catch (const StoreConflict&) {
        // The next run tries again.
    }
}

bool Engine::leases_wait() const {
    return options_.sweeps &&
           (leases_wait_since_ || (options_.delays && options_.delays->hold_leases()));
}

bool Engine::has_something_to_do(Batch& batch, Timestamp now) const {
    return batch.size() > 0 || next_work() <= now || wants_a_turn(now) ||
           waiting_claims_.waits_for(batch.readied_elsewhere);
}

// Each try also reserves the jobs and entities that earlier tries found locked by other sessions.
void Engine::run_until_decided(Batch& batch, Timestamp now, Ran& ran) {
    Late late;
    for (int tries = 1;; ++tries) {
        try {
            return run_in_transaction(batch, now, late, ran);
        } catch (const StoreFull&) {
            if (tries == tries_max || !store_.release_reserve()) throw;
        } catch (const EntitiesBusy& busy) {
            if (tries == tries_max) throw;
            late.entities.insert(late.entities.end(), busy.keys().begin(), busy.keys().end());
        } catch (const JobsBusy& busy) {
            if (tries == tries_max) throw;
            late.jobs.insert(late.jobs.end(), busy.jobs().begin(), busy.jobs().end());
        } catch (const StoreConflict&) {
            if (tries == tries_max) throw;
        }
    }
}

void Engine::run_in_transaction(Batch& batch, Timestamp now, const Late& late, Ran& ran) {
    const auto session = store_.begin();
    session->reserve(subjects_of(batch, *options_.rules, late));
    if (options_.clock) now = std::max(now, options_.clock->now());
    Transaction tx(*session, *options_.rules, now, ids_, chance_);
    run_words_of_workers(tx, batch);
    duties_.take_runs(false);  // of a session that lost against others
    if (!leases_wait()) duties_.run(tx, Duties::Turn::after_workers, store_.space());
    run_words_of_clients(tx, batch);
    std::vector<Readied> left = run_claims(tx, batch);
    answer_questions(tx, batch);
    duties_.run(tx, Duties::Turn::last, store_.space());
    tx.flush();
    const Timestamp due = tx.leases().next_due();
    note_rules(tx);
    session->commit();

    duties_.store_is_due(due);
    retry_at_ = leases_wait() ? now + retry_period : Timestamp{};
    store_is_shaky_ = store_is_shaky_ && !tx.has_written();
    log_bytes_ = store_.space() == StoreSpace::ample ? 0 : log_bytes_ + accepted_log_bytes(batch);
    const std::size_t commands = ran.counts.commands;
    ran.counts = tx.counts();
    ran.counts.commands = commands;
    ran.counts.duties = duties_.take_runs(true);
    ran.touched.insert(ran.touched.end(), tx.touched().begin(), tx.touched().end());
    std::erase_if(left, [](const Readied& readied) { return readied.count <= 0; });
    std::move(left.begin(), left.end(), std::back_inserter(ran.news.readied));
    ran.news.due = due;
    note_reopened(session->reopened(), ran);
}

// In transactions without commands: no command waits for these duties, or hears of their failure.
void Engine::run_duties_apart(Timestamp now, Ran& ran) {
    if (!duties_.is_due(Duties::Turn::apart, now)) return;
    std::vector<DutyRun> runs;
    try {
        const auto session = store_.begin();
        Transaction tx(*session, *options_.rules, now, ids_, chance_);
        duties_.run(tx, Duties::Turn::apart, store_.space());
        session->commit();
        runs = duties_.take_runs(true);
        ran.touched.insert(ran.touched.end(), tx.touched().begin(), tx.touched().end());
    } catch (const StoreUnavailable& why) {
        runs = duties_.take_failed(why.what());
    }
    std::move(runs.begin(), runs.end(), std::back_inserter(ran.counts.duties));
}

void Engine::answer_questions(Transaction& tx, Batch& batch) {
    const StoreSpace space = store_.space();
    run_kind(batch.explains, space, [&](std::span<const ExplainJob> commands) {
        std::vector<Result<Explanation>> answers;
        for (const ExplainJob& command : commands) {
            answers.push_back(explain_job(tx, workers_, space, command));
        }
        return answers;
    });
    answer_depths(tx, batch);
    answer_each(batch.workers,
                [&](const AskWorkers& ask) { return workers_.of(ask.tenant, tx.now()); });
    answer_each(batch.limits, [&](const AskLimits& ask) { return limits_now(tx, ask); });
    answer_each(batch.starts,
                [&](const AskStart& ask) { return start_now(tx.limits(), ask, tx.now()); });
    answer_each(batch.sources, [&](const AskSources& ask) { return sources_now(tx, ask); });
}

// Readiness checks call this. A store that has refused a write must take one before it counts as
// ready again.
void Engine::answer_depths(Transaction& tx, Batch& batch) {
    if (batch.depths.empty()) return;
    const bool has_space = store_.space() == StoreSpace::ample;
    if (store_is_shaky_ && has_space) {
        tx.idempotency().put({.tenant = "", .key = "readiness", .at = tx.now()});
        tx.note_written();
    }
    for (auto& pending : batch.depths) {
        pending.answers.clear();
        if (pending.items.front().count) {
            pending.answers.emplace_back(tx.leases().depths());
        } else if (has_space) {
            pending.answers.emplace_back(Depths{});
        } else {
            pending.answers.emplace_back(store_full_error());
        }
    }
}

void Engine::run_words_of_workers(Transaction& tx, Batch& batch) {
    const StoreSpace space = store_.space();
    run_kind(batch.heartbeats, space, [&](auto commands) { return heartbeat_jobs(tx, commands); });
    const std::span logs = std::span(batch.logs);
    const std::size_t fitting = count_fitting(batch.logs, space, log_bytes_);
    run_all(logs.first(fitting), [&](auto commands) { return append_logs(tx, commands); });
    refuse_all(logs.subspan(fitting), store_full_error());
    run_kind(batch.reports, space, [&](auto commands) { return report_jobs(tx, commands); });
    run_kind(batch.hand_backs, space, [&](auto commands) { return hand_back_jobs(tx, commands); });
}

void Engine::run_words_of_clients(Transaction& tx, Batch& batch) {
    const StoreSpace space = store_.space();
    const Duration memory = options_.idempotency_memory;
    run_kind(batch.cancels, space, [&](auto commands) { return cancel_jobs(tx, commands); });
    run_kind(batch.lease_releases, space,
             [&](auto commands) { return release_leases(tx, commands); });
    run_kind(batch.entity_actions, space,
             [&](auto commands) { return change_entities(tx, commands); });
    run_kind(batch.submits, space,
             [&](auto commands) { return submit_jobs(tx, commands, memory); });
    run_kind(batch.replays, space,
             [&](auto commands) { return replay_jobs(tx, commands, memory); });
}

}  // namespace sluice
