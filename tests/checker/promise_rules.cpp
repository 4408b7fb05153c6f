// Promises that clients can check by their own clock alone, whatever the clocks of nodes show.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

using Milliseconds = std::chrono::milliseconds;

// The time over which a worker may believe that it has its job: from the answer to its claim until
// the term after it sent its claim or its last accepted heartbeat, or until it reports the end.
struct Belief {
    const Lease* lease;
    Time from;
    Time until;
};

bool gives_the_lease_up(const Operation& said) {
    return said.op == "report" || said.op == "release";
}

Milliseconds term_of(const Operation& operation) {
    return Milliseconds(number(operation.args, "lease_ms"));
}

// Engines follow a clock that was set by up to one hundredth of the time that passes, each.
Span allowance(Milliseconds term, const Limits& limits) {
    return limits.judges + Span(term) / 50;
}

std::optional<Belief> belief_of(const Lease& lease, const Limits& limits) {
    if (lease.given == nullptr) return std::nullopt;
    const Milliseconds term = term_of(*lease.given);
    Time until = lease.given->t0 + term - allowance(term, limits);
    for (const Operation* said : lease.spoken) {
        if (gives_the_lease_up(*said)) {
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

// When a job that could run from its submit on was certainly waiting.
struct Waiting {
    const Job* job;
    std::int64_t priority;
    Time sent;   // it did not exist before
    Time since;  // its submit had been answered
    Time until;  // no request that took it away had been sent
};

// When the first request was sent that took this job from the queue, if that is known.
std::optional<Time> first_taken(const Evidence& evidence, const Job& job,
                                const std::map<std::string, Time>& cancels) {
    if (job.events.size() < 2) return std::nullopt;
    const Event& second = job.events[1];
    if (second.type == "claimed") {
        const auto lease = evidence.leases.find(second.lease);
        const bool is_known = lease != evidence.leases.end() && lease->second.given != nullptr;
        return is_known ? std::optional(lease->second.given->t0) : std::nullopt;
    }
    const auto cancel = cancels.find(job.id);
    if (second.type != "canceled" || cancel == cancels.end()) return std::nullopt;
    return cancel->second;
}

bool is_free_from_the_start(const Job& job, const Operation& submit) {
    const Json& body = member_of(submit.args, "body");
    return job.keys().empty() && list(job.fields, "depends_on").empty() &&
           number(body, "delay_ms") == 0;
}

std::vector<Waiting> all_waiting(const Evidence& evidence) {
    std::map<std::string, Time> cancels;  // by job: when the first was sent
    for (const Operation& operation : evidence.operations) {
        if (operation.op == "cancel") cancels.try_emplace(operation.job, operation.t0);
    }
    std::map<std::string, Time> first_sent;  // by mark
    std::vector<Waiting> all;
    std::set<std::string> seen;
    for (const Operation& submit : evidence.operations) {
        if (submit.op != "submit") continue;
        const Time sent = first_sent.try_emplace(submit.ref, submit.t0).first->second;
        if (submit.outcome != Outcome::ok) continue;
        const Job* job = evidence.find(text(submit.result, "id"));
        if (job == nullptr || !is_free_from_the_start(*job, submit)) continue;
        if (!seen.insert(job->id).second) continue;
        const auto until = first_taken(evidence, *job, cancels);
        if (!until || *until <= submit.t1) continue;
        all.push_back({job, number(job->fields, "priority"), sent, submit.t1, *until});
    }
    return all;
}

bool is_same_lane(const Job& a, const Job& b) {
    return a.tenant() == b.tenant() && text(a.fields, "type") == text(b.fields, "type") &&
           text(a.fields, "queue") == text(b.fields, "queue");
}

using FirstSent = std::map<std::string, Time>;  // by job: when its submit was first sent

// Looks for jobs that waited all the time while this claim was answered with `taken`.
void look_at_claim(const Operation& claim, const Job& taken, const std::vector<Waiting>& waiting,
                   const FirstSent& sent, Row& row) {
    const auto taken_sent = sent.find(taken.id);
    for (const Waiting& other : waiting) {
        if (other.since >= claim.t0 || other.until <= claim.t1) continue;
        if (other.job == &taken || !is_same_lane(*other.job, taken)) continue;
        const std::int64_t priority = number(taken.fields, "priority");
        const bool is_older = taken_sent != sent.end() && other.since < taken_sent->second;
        const bool goes_first =
            other.priority > priority || (other.priority == priority && is_older);
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
    if (!limits.strict_order) return row.expect(true, "", "");
    const std::vector<Waiting> waiting = all_waiting(evidence);
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
