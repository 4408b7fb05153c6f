// Claims: new ones, and those that wait for a job.
#include <map>

#include "application/engine/engine.hpp"
#include "application/engine/run_kind.hpp"
#include "application/leases/claim_jobs.hpp"

namespace sluice {
namespace {

constexpr int rounds_max = 1000;  // of claims that make further jobs claimable

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
