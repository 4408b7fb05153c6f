#include "application/engine/engine.hpp"

#include <algorithm>
#include <map>

#include "application/engine/run_kind.hpp"
#include "application/engine/subjects.hpp"
#include "application/entities/run_entity_actions.hpp"
#include "application/jobs/cancel_jobs.hpp"
#include "application/jobs/explain_job.hpp"
#include "application/jobs/replay_jobs.hpp"
#include "application/jobs/submit_jobs.hpp"
#include "application/leases/append_logs.hpp"
#include "application/leases/claim_jobs.hpp"
#include "application/leases/hand_back_jobs.hpp"
#include "application/leases/heartbeat_jobs.hpp"
#include "application/leases/report_jobs.hpp"
#include "application/ports/store_refusal.hpp"

namespace sluice {
namespace {

constexpr Duration retry_period = std::chrono::seconds(1);
constexpr int rounds_max = 1000;  // of claims that make further jobs claimable
constexpr int tries_max = 8;      // of a batch whose session lost against others

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

void answer_with_nothing(PendingClaim& claim) {
    claim.answers.assign(1, Claimed{});
}

// Subtracts the jobs that the claims got from `ready`. False: they got none.
bool take_off(std::vector<Readied>& ready, std::span<const PendingClaim> claims) {
    std::map<Lane, int> taken;
    for (const PendingClaim& claim : claims) {
        for (const Job& job : *claim.answers.front()) ++taken[lane_of(job.spec)];
    }
    for (Readied& readied : ready) {
        const auto found = taken.find(readied.lane);
        if (found != taken.end()) readied.count -= found->second;
    }
    return !taken.empty();
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
    return std::min(std::max(duties_.next_due(), retry_at_), waiting_claims_.next_timeout());
}

bool Engine::wants_a_turn(Timestamp now) const {
    return retry_at_ <= now && duties_.is_due(Duties::Turn::apart, now);
}

Engine::Ran Engine::run(Batch& batch, Timestamp now) {
    Ran ran;
    ran.counts.commands = batch.size();
    std::vector<PendingClaim> answered = answer_without_store(batch, now);
    duties_.store_may_be_due(batch.look_at);
    HeartbeatDelays* const delays = options_.sweeps ? nullptr : options_.delays;
    if (delays) delays->begin(*this);
    if (has_something_to_do(batch, now)) {
        try {
            if (leases_wait()) give_back_lease_time(now);
            run_until_decided(batch, now, ran);
            let_claims_wait(batch, now);
            if (batch.size() == 0) run_duties_apart(now, ran);
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
    return batch.size() > 0 || std::max(duties_.next_due(), retry_at_) <= now ||
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

PendingClaim Engine::no_longer_waiting(PendingClaim claim) {
    workers_.waits(claim_of(claim).worker_id, claim_of(claim).filter, false);
    return claim;
}

std::vector<PendingClaim> Engine::answer_without_store(Batch& batch, Timestamp now) {
    std::vector<PendingClaim> answered;
    for (const std::uint64_t ticket : batch.forgotten) {
        if (auto claim = waiting_claims_.forget(ticket)) {
            answered.push_back(no_longer_waiting(*std::move(claim)));
        }
        const auto same = [&](const PendingClaim& claim) {
            return claim_of(claim).ticket == ticket;
        };
        const auto fresh = std::find_if(batch.claims.begin(), batch.claims.end(), same);
        if (fresh != batch.claims.end()) {
            answered.push_back(std::move(*fresh));
            batch.claims.erase(fresh);
        }
    }
    auto over = waiting_allowed_ ? waiting_claims_.timed_out(now) : waiting_claims_.clear();
    for (PendingClaim& claim : over) answered.push_back(no_longer_waiting(std::move(claim)));
    for (PendingClaim& claim : answered) answer_with_nothing(claim);
    return answered;
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
    session->commit();

    duties_.store_is_due(due);
    retry_at_ = leases_wait() ? now + retry_period : Timestamp{};
    store_is_shaky_ = store_is_shaky_ && !tx.has_written();
    log_bytes_ = store_.space() == StoreSpace::ample ? 0 : log_bytes_ + accepted_log_bytes(batch);
    const std::size_t commands = ran.counts.commands;
    ran.counts = tx.counts();
    ran.counts.commands = commands;
    ran.counts.duties = duties_.take_runs(true);
    ran.touched = tx.touched();
    std::erase_if(left, [](const Readied& readied) { return readied.count <= 0; });
    ran.news = {.readied = std::move(left), .due = due};
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
    for (auto& pending : batch.workers) {
        pending.answers.clear();
        for (const AskWorkers& ask : pending.items) {
            pending.answers.emplace_back(workers_.of(ask.tenant, tx.now()));
        }
    }
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
    run_kind(batch.entity_actions, space,
             [&](auto commands) { return change_entities(tx, commands); });
    run_kind(batch.submits, space,
             [&](auto commands) { return submit_jobs(tx, commands, memory); });
    run_kind(batch.replays, space,
             [&](auto commands) { return replay_jobs(tx, commands, memory); });
}

// Waiting claims come before new ones. Returns the counts of jobs that became ready here, without
// those that waiting claims took.
std::vector<Readied> Engine::run_claims(Transaction& tx, Batch& batch) {
    if (!may_run(burden_of<ClaimJobs>, store_.space())) {
        refuse_claims(batch);
        return tx.leases().newly_ready(tx.now());
    }
    const std::size_t fresh = batch.claims.size();
    for (const PendingClaim& claim : batch.claims) {
        workers_.claimed(claim_of(claim).worker_id, claim_of(claim).filter, tx.now());
    }
    std::vector<Readied> ready = tx.leases().newly_ready(tx.now());
    const std::size_t own = ready.size();
    ready.insert(ready.end(), batch.readied_elsewhere.begin(), batch.readied_elsewhere.end());
    serve_waiting_claims(tx, batch, ready);
    take_jobs(tx, std::span(batch.claims).first(fresh));
    ready.resize(own);  // the other committers know of the rest
    // A claim can make further jobs claimable: when a job is parked at a key, or ends because it
    // cannot start, another one comes forward. A claim of this batch that got nothing before does
    // not wait yet and cannot be woken, so it looks again. The jobs that it takes may in turn make
    // others claimable.
    for (int rounds = 0; rounds < rounds_max; ++rounds) {
        std::vector<Readied> more = tx.leases().newly_ready(tx.now());
        if (more.empty()) break;
        const auto look_again = [&](std::span<PendingClaim> claims) {
            for (PendingClaim& claim : claims) {
                if (!claim.answers.front()->empty()) continue;
                take_jobs(tx, {&claim, 1});
                take_off(more, {&claim, 1});
            }
        };
        look_again(std::span(batch.claims).subspan(fresh));
        serve_waiting_claims(tx, batch, more);
        look_again(std::span(batch.claims).first(fresh));
        std::move(more.begin(), more.end(), std::back_inserter(ready));
    }
    return ready;
}

// Waiting claims are refused, too: they could not be woken once there is space again, since the
// jobs that are queued by then became ready before.
void Engine::refuse_claims(Batch& batch) {
    for (PendingClaim& claim : waiting_claims_.clear()) {
        batch.claims.push_back(no_longer_waiting(std::move(claim)));
    }
    refuse_all(std::span(batch.claims), store_full_error());
}

// Subtracts the jobs that waiting claims got from `ready`. A claim that was woken for one job may
// take another, more urgent one; then the next claim in line is woken for the job that is left.
void Engine::serve_waiting_claims(Transaction& tx, Batch& batch, std::vector<Readied>& ready) {
    while (waiting_claims_.size() > 0) {
        const std::size_t first = batch.claims.size();
        for (PendingClaim& claim : waiting_claims_.wake(ready)) {
            batch.claims.push_back(no_longer_waiting(std::move(claim)));
        }
        const auto woken = std::span(batch.claims).subspan(first);
        take_jobs(tx, woken);
        if (!take_off(ready, woken)) break;
    }
}

void Engine::take_jobs(Transaction& tx, std::span<PendingClaim> pendings) {
    if (pendings.empty()) return;
    std::vector<ClaimJobs> claims;  // copies: a claim that finds nothing goes on waiting
    claims.reserve(pendings.size());
    for (const PendingClaim& pending : pendings) claims.push_back(claim_of(pending));
    std::vector<Result<Claimed>> answers = claim_jobs(tx, claims);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        pendings[i].answers.assign(1, std::move(answers[i]));
    }
}

void Engine::let_claims_wait(Batch& batch, Timestamp now) {
    if (!waiting_allowed_) return;
    std::vector<PendingClaim> answered;
    for (PendingClaim& pending : batch.claims) {
        const ClaimJobs& claim = claim_of(pending);
        const bool waits = pending.answers.front() && pending.answers.front()->empty() &&
                           claim.wait_until && *claim.wait_until > now;
        if (!waits) {
            answered.push_back(std::move(pending));
            continue;
        }
        workers_.waits(claim.worker_id, claim.filter, true);
        pending.answers.clear();
        waiting_claims_.park(std::move(pending));
    }
    batch.claims = std::move(answered);
}

}  // namespace sluice
