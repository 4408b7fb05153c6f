#include "application/engine.hpp"

#include <algorithm>
#include <map>

#include "application/append_logs.hpp"
#include "application/cancel_jobs.hpp"
#include "application/claim_jobs.hpp"
#include "application/expire_leases.hpp"
#include "application/explain_job.hpp"
#include "application/hand_back_jobs.hpp"
#include "application/heartbeat_jobs.hpp"
#include "application/replay_jobs.hpp"
#include "application/report_jobs.hpp"
#include "application/submit_jobs.hpp"

namespace sluice {
namespace {

constexpr int sweep_limit =
    1000;  // per run, so that one flood of expired leases does not stall the others
constexpr Duration forgetting_period = std::chrono::minutes(2);
constexpr Duration retry_period = std::chrono::seconds(1);

// Runs a use case once over all commands of a kind and deals the answers out to their callers.
template <class Item, class Answer, class UseCase>
void run_kind(std::vector<Pending<Item, Answer>>& pendings, UseCase&& use_case) {
    if (pendings.empty()) return;
    std::vector<Item> all;
    all.reserve(pendings.size());
    for (auto& pending : pendings) {
        std::move(pending.items.begin(), pending.items.end(), std::back_inserter(all));
    }
    std::vector<Result<Answer>> answers = use_case(std::span<Item>(all));
    auto next = answers.begin();
    for (auto& pending : pendings) {
        const auto end = next + static_cast<std::ptrdiff_t>(pending.items.size());
        pending.answers.assign(std::move_iterator(next), std::move_iterator(end));
        next = end;
    }
}

void answer_with_nothing(PendingClaim& claim) {
    claim.answers.assign(1, Claimed{});
}

const ClaimJobs& claim_of(const PendingClaim& pending) {
    return pending.items.front();
}

// Takes what the claims got off `ready`. False: they got nothing.
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
    : store_(store), options_(options), ids_(options.node), chance_(options.seed) {
    ids_.skip_to(store.last_id());
}

Timestamp Engine::next_due() const {
    return std::min(std::max(store_due_, retry_at_), waiting_room_.next_timeout());
}

Engine::Ran Engine::run(Batch& batch, Timestamp now) {
    Ran ran;
    ran.counts.commands = batch.size();
    std::vector<PendingClaim> answered = answer_without_store(batch, now);
    if (batch.size() > 0 || (store_due_ <= now && retry_at_ <= now)) {
        try {
            run_in_transaction(batch, now, ran);
            let_claims_wait(batch, now);
        } catch (const StoreUnavailable& unavailable) {
            ran.counts.failure = unavailable.what();
            store_is_shaky_ = true;
            store_due_ = Timestamp{};  // what was written is not known: look at it again
            retry_at_ = now + retry_period;
            batch.refuse({ErrorCode::unavailable, unavailable.what(), ""});
        }
    }
    std::move(answered.begin(), answered.end(), std::back_inserter(batch.claims));
    ran.counts.waiting_claims = waiting_room_.size();
    return ran;
}

PendingClaim Engine::no_longer_waiting(PendingClaim claim) {
    workers_.waits(claim_of(claim).worker_id, claim_of(claim).filter, false);
    return claim;
}

std::vector<PendingClaim> Engine::answer_without_store(Batch& batch, Timestamp now) {
    std::vector<PendingClaim> answered;
    for (const std::uint64_t ticket : batch.forgotten) {
        if (auto claim = waiting_room_.forget(ticket)) {
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
    auto over = waiting_allowed_ ? waiting_room_.timed_out(now) : waiting_room_.clear();
    for (PendingClaim& claim : over) answered.push_back(no_longer_waiting(std::move(claim)));
    for (PendingClaim& claim : answered) answer_with_nothing(claim);
    return answered;
}

void Engine::run_in_transaction(Batch& batch, Timestamp now, Ran& ran) {
    const auto session = store_.begin();
    Transaction tx(*session, now, ids_, chance_);
    run_words_of_workers(tx, batch);
    if (store_due_ <= now) {
        end_overdue_jobs(tx, sweep_limit);
        expire_leases(tx, sweep_limit);
    }
    run_words_of_clients(tx, batch);
    run_claims(tx, batch);
    run_kind(batch.explains, [&](std::span<const ExplainJob> commands) {
        std::vector<Result<Explanation>> answers;
        for (const ExplainJob& command : commands)
            answers.push_back(explain_job(tx, workers_, command));
        return answers;
    });
    answer_depths(tx, batch);
    for (auto& pending : batch.workers) {
        for (const AskWorkers& ask : pending.items) {
            pending.answers.emplace_back(workers_.of(ask.tenant, now));
        }
    }
    if (next_forgetting_ <= now) forget_what_is_old(tx);
    tx.flush();
    const Timestamp due = tx.leases().next_due();
    session->commit();

    store_due_ = due;
    retry_at_ = Timestamp{};
    store_is_shaky_ = store_is_shaky_ && !tx.has_written();
    const std::size_t commands = ran.counts.commands;
    ran.counts = tx.counts();
    ran.counts.commands = commands;
    ran.touched = tx.touched();
}

// Who asks whether the engine is ready asks this. A store that has refused a write must take one
// before it counts as ready again.
void Engine::answer_depths(Transaction& tx, Batch& batch) {
    if (batch.depths.empty()) return;
    if (store_is_shaky_) {
        tx.idempotency().put({.tenant = "", .key = "readiness", .at = tx.now()});
        tx.note_written();
    }
    for (auto& pending : batch.depths) pending.answers.assign(1, tx.leases().depths());
}

void Engine::forget_what_is_old(Transaction& tx) {
    const Timestamp before = tx.now() - options_.idempotency_memory;
    const int forgotten = tx.idempotency().forget_before(before, sweep_limit);
    workers_.forget_old(tx.now());
    // When there is more, the next run goes on with it.
    next_forgetting_ = forgotten == sweep_limit ? tx.now() : tx.now() + forgetting_period;
}

void Engine::run_words_of_workers(Transaction& tx, Batch& batch) {
    run_kind(batch.heartbeats, [&](auto commands) { return heartbeat_jobs(tx, commands); });
    run_kind(batch.logs, [&](auto commands) { return append_logs(tx, commands); });
    run_kind(batch.reports, [&](auto commands) { return report_jobs(tx, commands); });
    run_kind(batch.hand_backs, [&](auto commands) { return hand_back_jobs(tx, commands); });
}

void Engine::run_words_of_clients(Transaction& tx, Batch& batch) {
    run_kind(batch.cancels, [&](auto commands) { return cancel_jobs(tx, commands); });
    run_kind(batch.submits,
             [&](auto commands) { return submit_jobs(tx, commands, options_.idempotency_memory); });
    run_kind(batch.replays,
             [&](auto commands) { return replay_jobs(tx, commands, options_.idempotency_memory); });
}

// Those who waited come before those who have just come. A claim that was woken for one job may
// take another, more urgent one; then the next one in line is woken for the job that is left.
void Engine::run_claims(Transaction& tx, Batch& batch) {
    const std::size_t fresh = batch.claims.size();
    for (const PendingClaim& claim : batch.claims) {
        workers_.claimed(claim_of(claim).worker_id, claim_of(claim).filter, tx.now());
    }
    std::vector<Readied> ready = tx.leases().newly_ready(tx.now());
    while (waiting_room_.size() > 0) {
        const std::size_t first = batch.claims.size();
        for (PendingClaim& claim : waiting_room_.wake(ready)) {
            batch.claims.push_back(no_longer_waiting(std::move(claim)));
        }
        const auto woken = std::span(batch.claims).subspan(first);
        take_jobs(tx, woken);
        if (!take_off(ready, woken)) break;
    }
    take_jobs(tx, std::span(batch.claims).first(fresh));
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
        waiting_room_.park(std::move(pending));
    }
    batch.claims = std::move(answered);
}

}  // namespace sluice
