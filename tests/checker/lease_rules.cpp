// Which worker holds which job and key, and when. By the engine's clock within the slack, and
// without any clock but the clients': a worker holds its job for certain from the answer to its
// claim until it sends the last message that is accepted.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

struct Hold {
    const Lease* lease;
    Time from;
    Time to;
};

bool keeps_the_lease(const Operation& said) {
    return said.op == "heartbeat" || said.op == "logs";
}

// The time over which a worker held its job for certain, by its own clock.
std::optional<Hold> certain_hold(const Lease& lease) {
    if (lease.given == nullptr) return std::nullopt;
    std::optional<Time> last;
    std::optional<Time> first_end;  // later answers may come from memory
    for (const Operation* said : lease.spoken) {
        if (said->gives_the_lease_up() && !first_end) first_end = said->t0;
        if (said->outcome != Outcome::ok) continue;
        if (keeps_the_lease(*said)) last = std::max(last.value_or(said->t0), said->t0);
        if (said->gives_the_lease_up()) last = std::max(last.value_or(*first_end), *first_end);
    }
    if (!last || *last <= lease.given->t1) return std::nullopt;
    return Hold{&lease, lease.given->t1, *last};
}

// By the history; a lease that was never closed holds for ever.
std::optional<Hold> told_hold(const Lease& lease) {
    if (lease.claimed == nullptr) return std::nullopt;
    const Time to = lease.closed != nullptr ? lease.closed->at : Time::max();
    return Hold{&lease, lease.claimed->at, to};
}

void look_at_overlaps(const std::string& what, std::vector<Hold> holds, Span slack, Row& row) {
    // Of two holds that began within one millisecond, the one that ended first came first.
    std::sort(holds.begin(), holds.end(), [](const Hold& a, const Hold& b) {
        return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    });
    for (std::size_t i = 1; i < holds.size(); ++i) {
        Hold& before = holds[i - 1];
        const bool apart = holds[i].from + slack >= before.to;
        row.expect(apart, what,
                   apart ? std::string()
                         : fmt::format("is held by {} and by {}, {} us before the first ends",
                                       before.lease->id, holds[i].lease->id,
                                       (before.to - holds[i].from).count()));
        if (before.to > holds[i].to) holds[i] = before;  // the longest is compared next
    }
}

using Holds = std::map<std::string, std::vector<Hold>>;

void look_at_all(const Holds& holds, Span slack, Row& row) {
    for (const auto& [what, those] : holds) look_at_overlaps(what, those, slack, row);
}

// The part of a lease's id that grows from claim to claim.
std::string token_of(const std::string& lease) {
    return lease.substr(lease.find('-') + 1);
}

void look_at_tokens(const Job& job, Row& row) {
    std::string last;
    bool is_held = false;
    for (const Event& event : job.events) {
        if (event.type == "claimed") {
            row.expect(!is_held, job.id, "was claimed while a lease was open: " + event.lease);
            row.expect(token_of(event.lease) > last, job.id, "tokens do not grow: " + event.lease);
            last = token_of(event.lease);
            is_held = true;
        } else if (event.closes_a_lease()) {
            row.expect(is_held && token_of(event.lease) == last, job.id,
                       "a lease was closed that was not open: " + event.lease);
            is_held = false;
        }
    }
}

void look_at_refusal(const Lease& lease, const Operation& said, const Limits& limits, Row& row) {
    if (said.code != "lease_lost") return;
    row.expect(lease.closed != nullptr && lease.closed->at <= said.t1 + limits.slack, lease.id,
               said.op + " was refused though the lease was current");
}

// `over`: when the worker knew for certain that its lease was over.
void look_at_acceptance(const Lease& lease, const Operation& said, std::optional<Time> over,
                        const Limits& limits, Row& row) {
    if (!keeps_the_lease(said)) return;
    row.expect(lease.closed == nullptr || said.t0 <= lease.closed->at + limits.slack, lease.id,
               said.op + " was accepted after the lease's end");
    row.expect(!over || said.t0 <= *over, lease.id,
               said.op + " was accepted after an answer that ended the lease");
}

// When another worker had the same job for certain, by job and token.
using Givings = std::map<std::string, std::map<std::string, Time>>;

Givings all_givings(const Evidence& evidence) {
    Givings givings;
    for (const auto& [id, lease] : evidence.leases) {
        const Job* job = evidence.job_of(lease);
        if (lease.given == nullptr || job == nullptr) continue;
        givings[job->id][token_of(id)] = lease.given->t1;
    }
    return givings;
}

std::optional<Time> given_anew(const Evidence& evidence, const Givings& givings,
                               const Lease& lease) {
    const Job* job = evidence.job_of(lease);
    const auto tokens = job == nullptr ? givings.end() : givings.find(job->id);
    if (tokens == givings.end()) return std::nullopt;
    std::optional<Time> first;
    for (auto later = tokens->second.upper_bound(token_of(lease.id)); later != tokens->second.end();
         ++later) {
        first = std::min(first.value_or(later->second), later->second);
    }
    return first;
}

}  // namespace

// Tokens of a job grow, a lease is closed before the next one opens, every lease that a worker was
// given is in the history under its name, no lease is given twice, and no two workers held a job at
// the same time for certain.
void one_lease_at_a_time(const Evidence& evidence, const Limits& limits, Row& row) {
    for (const auto& [id, job] : evidence.jobs) look_at_tokens(job, row);
    std::set<std::string> given;
    for (const Operation& claim : evidence.operations) {
        if (!claim.is_ok("claim")) continue;
        for (const Json& answer : list(claim.result, "leases")) {
            const std::string id = text(answer, "lease_id");
            row.expect(given.insert(id).second, id, "was given twice");
            if (may_be_removed(evidence, limits, job_in(id))) continue;
            const Lease& lease = evidence.leases.at(id);
            row.expect(lease.claimed != nullptr &&
                           lease.claimed->actor == "worker:" + text(claim.args, "worker"),
                       id, "was given, but the history does not know it");
        }
    }
    Holds certain;
    for (const auto& [id, lease] : evidence.leases) {
        const Job* job = evidence.job_of(lease);
        const auto hold = certain_hold(lease);
        if (job != nullptr && hold) certain[job->id].push_back(*hold);
    }
    look_at_all(certain, Span(0), row);
}

// A worker's message under its lease is accepted while the lease is current and refused afterwards.
void stale_leases_are_refused(const Evidence& evidence, const Limits& limits, Row& row) {
    const Givings givings = all_givings(evidence);
    for (const auto& [id, lease] : evidence.leases) {
        std::optional<Time> over = given_anew(evidence, givings, lease);
        const bool is_removed = may_be_removed(evidence, limits, job_in(id));
        for (const Operation* said : lease.spoken) {
            if (said->outcome == Outcome::fail && !is_removed) {
                look_at_refusal(lease, *said, limits, row);
            }
            if (said->outcome == Outcome::ok) look_at_acceptance(lease, *said, over, limits, row);
            const bool ends = (said->outcome == Outcome::ok && said->gives_the_lease_up()) ||
                              said->code == "lease_lost";
            if (ends) over = std::min(over.value_or(said->t1), said->t1);
        }
    }
}

// A silent worker's lease runs out only at the end that the worker was told last, or later, unless
// an operator takes it away.
void leases_last_as_promised(const Evidence& evidence, const Limits& limits, Row& row) {
    for (const auto& [id, lease] : evidence.leases) {
        if (lease.given == nullptr || lease.closed == nullptr) continue;
        if (lease.closed->is_by_worker() || lease.closed->is_release()) continue;
        Time until = lease.until;
        for (const Operation* said : lease.spoken) {
            if (!said->is_ok("heartbeat")) continue;
            until = std::max(until, parse_time(text(said->result, "lease_until")));
        }
        row.expect(lease.closed->at + limits.slack >= until, id,
                   fmt::format("ended {} us too early", (until - lease.closed->at).count()));
    }
}

// No two jobs that share a key hold it at the same time: by the history, and by the workers'
// clocks.
void exclusive_keys(const Evidence& evidence, const Limits& limits, Row& row) {
    Holds told;
    Holds certain;
    for (const auto& [id, lease] : evidence.leases) {
        const Job* job = evidence.job_of(lease);
        if (job == nullptr) continue;
        const auto by_history = told_hold(lease);
        const auto by_worker = certain_hold(lease);
        for (const std::string& key : job->keys()) {
            if (by_history) told[key].push_back(*by_history);
            if (by_worker) certain[key].push_back(*by_worker);
        }
    }
    look_at_all(told, limits.slack, row);
    look_at_all(certain, Span(0), row);
}

}  // namespace sluice::checker
