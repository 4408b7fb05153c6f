// Promises that clients can check by their own clock alone, whatever the clocks of nodes show.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "checker/rules.hpp"
#include "checker/waiting_jobs.hpp"

namespace sluice::checker {
namespace {

using Milliseconds = std::chrono::milliseconds;

// The time over which a worker may believe that it has its job: from the answer to its claim until
// the term after it sent its claim or its last accepted heartbeat, or until it reports the end. A
// worker whose job an operator takes away believes wrongly, and is left out.
struct Belief {
    const Lease* lease;
    Time from;
    Time until;
};

Milliseconds term_of(const Operation& operation) {
    return Milliseconds(number(operation.args, "lease_ms"));
}

// Engines follow a clock that was set by up to one hundredth of the time that passes, each.
Span allowance(Milliseconds term, const Limits& limits) {
    return limits.judges + Span(term) / 50;
}

std::optional<Belief> belief_of(const Lease& lease, const Limits& limits) {
    if (lease.given == nullptr) return std::nullopt;
    if (lease.closed != nullptr && lease.closed->is_release()) return std::nullopt;
    const Milliseconds term = term_of(*lease.given);
    Time until = lease.given->t0 + term - allowance(term, limits);
    for (const Operation* said : lease.spoken) {
        if (said->gives_the_lease_up()) {
            until = std::min(until, said->t0);
            break;
        }
        const Milliseconds more = term_of(*said);
        if (!said->is_ok("heartbeat") || more.count() == 0) continue;
        until = std::max(until, said->t0 + more - allowance(more, limits));
    }
    return Belief{&lease, lease.given->t1, until};
}

void look_at_beliefs(const std::string& what, std::vector<Belief> beliefs, Row& row) {
    std::sort(beliefs.begin(), beliefs.end(), [](const Belief& a, const Belief& b) {
        return a.lease->given->t0 < b.lease->given->t0;
    });
    const Belief* longest = nullptr;
    for (const Belief& next : beliefs) {
        // The next lease was certainly given within the belief of the one before.
        if (longest != nullptr && longest->from < next.lease->given->t0) {
            const bool apart = next.lease->given->t1 >= longest->until;
            row.expect(apart, what,
                       fmt::format("was given to {} while {} still believed to have it, for {} us",
                                   next.lease->id, longest->lease->id,
                                   (longest->until - next.lease->given->t1).count()));
        }
        if (longest == nullptr || next.until > longest->until) longest = &next;
    }
}

bool is_same_lane(const Job& a, const Job& b) {
    return a.tenant() == b.tenant() && text(a.fields, "type") == text(b.fields, "type") &&
           text(a.fields, "queue") == text(b.fields, "queue") &&
           text(a.fields, "source") == text(b.fields, "source");
}

using FirstSent = std::map<std::string, Time>;  // by job: when its submit was first sent

// Looks for jobs that waited all the time while this claim was answered with `taken`.
void look_at_claim(const Operation& claim, const Job& taken, const std::vector<WaitingJob>& waiting,
                   const FirstSent& sent, Row& row) {
    const auto taken_sent = sent.find(taken.id);
    for (const WaitingJob& other : waiting) {
        if (other.since >= claim.t0 || other.until <= claim.t1) continue;
        if (other.job == &taken || !is_same_lane(*other.job, taken)) continue;
        const std::int64_t priority = number(taken.fields, "priority");
        const bool is_older = taken_sent != sent.end() && other.since < taken_sent->second;
        const std::int64_t of_other = number(other.job->fields, "priority");
        const bool goes_first = of_other > priority || (of_other == priority && is_older);
        row.expect(!goes_first, other.job->id,
                   fmt::format("waited while {} was taken, which comes after it", taken.id));
    }
}

}  // namespace

// A worker that cannot renew its lease may go on until a term after its last heartbeat; until then
// no other worker is given its job, nor a key of it.
void leases_outlive_silence(const Evidence& evidence, const Limits& limits, Row& row) {
    std::map<std::string, std::vector<Belief>> beliefs;
    for (const auto& [id, lease] : evidence.leases) {
        const Job* job = evidence.job_of(lease);
        const auto belief = belief_of(lease, limits);
        if (job == nullptr || !belief) continue;
        beliefs[job->id].push_back(*belief);
        for (const std::string& key : job->keys()) beliefs[key].push_back(*belief);
    }
    for (const auto& [what, those] : beliefs) look_at_beliefs(what, those, row);
}

// Where claims are served in one order: no claim takes a job while one of a higher priority, or an
// older one of the same, waits for nothing else. Only for jobs that never waited for a key, a time
// or another job, and that clients know to exist before the claim and after it.
void first_comes_first(const Evidence& evidence, const Limits& limits, Row& row) {
    if (!limits.strict_order) return;
    const std::vector<WaitingJob> waiting = waiting_jobs(evidence, limits);
    FirstSent sent;
    for (const Operation& submit : evidence.operations) {
        if (submit.is_ok("submit")) sent.try_emplace(text(submit.result, "id"), submit.t0);
    }
    for (const Operation& claim : evidence.operations) {
        if (!claim.is_ok("claim")) continue;
        for (const Json& given : list(claim.result, "leases")) {
            const auto lease = evidence.leases.find(text(given, "lease_id"));
            const Job* taken = evidence.job_of(lease->second);
            if (taken != nullptr) look_at_claim(claim, *taken, waiting, sent, row);
        }
    }
}

}  // namespace sluice::checker
