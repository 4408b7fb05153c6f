// Steps that must not come before their time, and steps that must come by it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

using Milliseconds = std::chrono::milliseconds;

// Times in the history are cut to milliseconds.
constexpr Milliseconds rounding{1};

// The longest term that any claim of the run asked for.
Span longest_term(const Evidence& evidence) {
    std::int64_t longest = 0;
    for (const Operation& operation : evidence.operations) {
        if (operation.op != "claim") continue;
        longest = std::max(longest, number(operation.args, "lease_ms"));
    }
    return Milliseconds(longest);
}

// When leases got a new term because a node started; never, where starts do not do that.
std::vector<Time> renewals(const Evidence& evidence, const Limits& limits) {
    std::vector<Time> times;
    if (!limits.starts_renew_leases) return times;
    for (const Operation& operation : evidence.operations) {
        if (operation.op == "start") times.push_back(operation.t1);
    }
    return times;
}

// The latest moment at which this lease can have ended, whatever heartbeats were accepted.
Time latest_end(const Lease& lease, const std::vector<Time>& renewed, Span term) {
    Time latest = lease.claimed->at + term;
    for (const Operation* said : lease.spoken) {
        if (said->op != "heartbeat" || said->outcome == Outcome::fail) continue;
        latest = std::max(latest, said->t1 + term);
    }
    for (const Time at : renewed) {
        if (at <= lease.closed->at) latest = std::max(latest, at + term);
    }
    return latest;
}

// A claim of a job that was due at `due`: by the history's clock, and by the worker's.
void look_at_start(const Evidence& evidence, const Event& claimed, Time due, const Limits& limits,
                   Row& row) {
    row.expect(claimed.at + rounding + limits.slack >= due, claimed.lease,
               fmt::format("was claimed {} us early", (due - claimed.at).count()));
    const Operation* given = evidence.leases.at(claimed.lease).given;
    if (given == nullptr) return;
    row.expect(given->t1 + limits.clocks >= due, claimed.lease,
               fmt::format("was given {} us early", (due - given->t1).count()));
}

// The engine has timed out this attempt too early when the worker was told so too early by its own
// clock. Nodes follow a clock that was set by a hundredth of the time.
void look_at_stop(const Evidence& evidence, const Event& timed_out, Milliseconds timeout,
                  const Limits& limits, Row& row) {
    const auto lease = evidence.leases.find(timed_out.lease);
    if (lease == evidence.leases.end() || lease->second.given == nullptr) return;
    const Time due = lease->second.given->t0 + timeout - Span(timeout) / 50 - limits.judges;
    for (const Operation* said : lease->second.spoken) {
        if (!said->is_ok("heartbeat") || !flag(said->result, "cancel_requested")) continue;
        row.expect(
            said->t1 >= due, timed_out.lease,
            fmt::format("was asked to stop {} us before its deadline", (due - said->t1).count()));
    }
}

}  // namespace

// A job that runs longer than its timeout is ended soon, and none is timed out sooner. A store of a
// single node knows only that node's clock, which may be another after a restart.
void deadlines(const Evidence& evidence, const Limits& limits, Row& row) {
    for (const auto& [id, job] : evidence.jobs) {
        const Milliseconds timeout(number(job.fields, "timeout_ms"));
        if (timeout.count() == 0) continue;
        const Event* claimed = nullptr;
        for (const Event& event : job.events) {
            if (event.type == "claimed") claimed = &event;
            if (event.from != "running" || claimed == nullptr) continue;
            const bool by_engine = event.type == "timed_out" && !event.is_by_worker();
            if (by_engine && !(limits.clock_steps && limits.starts_renew_leases)) {
                look_at_stop(evidence, event, timeout, limits, row);
            }
            const Span ran = event.at - claimed->at;
            row.expect(
                ran <= timeout + limits.lateness, id,
                fmt::format("ran {} us, its timeout is {} ms", ran.count(), timeout.count()));
            if (by_engine && !limits.clock_steps) {
                row.expect(ran + rounding >= timeout, id,
                           fmt::format("timed out after {} us, its timeout is {} ms", ran.count(),
                                       timeout.count()));
            }
        }
    }
}

// Every job has ended and its lease is closed, and no lease stayed for long after its end.
void everything_ends(const Evidence& evidence, const Limits& limits, Row& row) {
    for (const auto& [id, job] : evidence.jobs) {
        row.expect(is_final(job.state), id, "is " + job.state + " after the drain");
        row.expect(text(job.fields, "locked_by").empty(), id, "is held after the drain");
    }
    const Span term = longest_term(evidence);
    const std::vector<Time> renewed = renewals(evidence, limits);
    for (const auto& [id, lease] : evidence.leases) {
        if (lease.claimed == nullptr) continue;
        row.expect(lease.closed != nullptr, id, "was never closed");
        if (lease.closed == nullptr) continue;
        row.expect(lease.closed->at <= latest_end(lease, renewed, term) + limits.lateness, id,
                   "was closed long after its end");
    }
}

// A requested delay counts from the request at least, and no claim takes the job, nor is it
// answered with it, before the time in the submit's answer or the time of a retry.
void nothing_runs_early(const Evidence& evidence, const Limits& limits, Row& row) {
    std::map<std::string, Time> first_sent;  // by mark
    std::map<std::string, Time> answered;    // by job
    for (const Operation& operation : evidence.operations) {
        if (operation.op != "submit") continue;
        const Time sent = first_sent.try_emplace(operation.ref, operation.t0).first->second;
        if (operation.outcome != Outcome::ok) continue;
        const std::string id = text(operation.result, "id");
        const Milliseconds delay(number(member_of(operation.args, "body"), "delay_ms"));
        const Time due = parse_time(text(operation.result, "run_after"));
        row.expect(
            due + rounding + limits.clocks >= sent + delay, id,
            fmt::format("is due {} us before its delay is over", (sent + delay - due).count()));
        answered[id] = due;
    }
    for (const auto& [id, job] : evidence.jobs) {
        const auto due_first = answered.find(id);
        Time due = due_first == answered.end() ? Time{} : due_first->second;
        for (const Event& event : job.events) {
            const std::string retry = text(event.detail, "run_after");
            if (event.type == "retried" && !retry.empty()) due = parse_time(retry);
            if (event.type == "claimed") look_at_start(evidence, event, due, limits, row);
        }
    }
}

}  // namespace sluice::checker
