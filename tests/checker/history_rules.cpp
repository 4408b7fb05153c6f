// A job's history by itself, and clients' reads of it meanwhile.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

using Milliseconds = std::chrono::milliseconds;

struct Step {
    std::string_view type;
    std::string_view from;
    std::string_view to;
};

constexpr auto steps = std::to_array<Step>({
    {"submitted", "", "queued"},
    {"claimed", "queued", "running"},
    {"canceled", "queued", "canceled"},
    {"succeeded", "running", "succeeded"},
    {"failed", "running", "failed"},
    {"retried", "running", "queued"},
    {"lease_expired", "running", "queued"},
    {"handed_back", "running", "queued"},
    {"canceled", "running", "canceled"},
    {"timed_out", "running", "timed_out"},
    {"lease_closed", "", ""},
});

bool is_legal(const Event& event) {
    return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
        return step.type == event.type && step.from == event.from && step.to == event.to;
    });
}

std::string describe(const Event& event) {
    return fmt::format("event {} {} ({} -> {})", event.seq, event.type, event.from, event.to);
}

// The state after the first `count` events.
std::string state_after(const Job& job, std::int64_t count) {
    std::string state;
    for (const Event& event : job.events) {
        if (event.seq <= count && !event.to.empty()) state = event.to;
    }
    return state;
}

// How long a retry after this attempt waits at least and at most, by the policy that was sent.
std::pair<Span, Span> backoff_after(const Json& policy, std::int64_t attempt) {
    if (policy.is_array() && !policy.as_array().empty()) {
        const auto& delays = policy.as_array();
        const auto last = static_cast<std::int64_t>(delays.size()) - 1;
        const auto place = static_cast<std::size_t>(std::clamp<std::int64_t>(attempt - 1, 0, last));
        const Milliseconds delay(delays[place].as_int64());
        return {delay, delay};
    }
    if (policy.is_object()) {
        return {Span(0), Milliseconds(number(policy, "cap_ms"))};
    }
    return {Span(0), Span(0)};
}

// The policies of the jobs that were acknowledged.
std::map<std::string, Json> backoffs(const Evidence& evidence) {
    std::map<std::string, Json> found;
    for (const Operation& operation : evidence.operations) {
        const Json& policy = member_of(member_of(operation.args, "body"), "backoff");
        if (operation.is_ok("submit") && !policy.is_null()) {
            found[text(operation.result, "id")] = policy;
        }
    }
    return found;
}

// Of two steps, the second has the time of the first if its node's clock is behind that of the
// first one's node; when the job is due was then computed by the clock that is behind.
void look_at_retry(const Job& job, Time before, const Event& retry, const Json& policy,
                   const Limits& limits, Row& row) {
    const std::string due = text(retry.detail, "run_after");
    if (due.empty()) return;
    const auto [least, most] = backoff_after(policy, retry.attempt);
    const Span waits = parse_time(due) - retry.at;
    const Span behind = retry.at == before ? limits.judges : Span(0);
    // Both times were cut to milliseconds.
    row.expect(waits >= least - Milliseconds(1) - behind && waits <= most + Milliseconds(1), job.id,
               fmt::format("{}: waits {} us", describe(retry), waits.count()));
}

bool was_given_up(const Evidence& evidence, const Event& failure) {
    const auto lease = evidence.leases.find(failure.lease);
    if (lease == evidence.leases.end()) return false;
    return std::any_of(
        lease->second.spoken.begin(), lease->second.spoken.end(), [](const Operation* said) {
            const Json& body = member_of(said->args, "body");
            const Json& retryable = member_of(body, "retryable");
            return said->op == "report" && retryable.is_bool() && !retryable.as_bool();
        });
}

void look_at_attempts(const Evidence& evidence, const Job& job, const Json* policy,
                      const Limits& limits, Row& row) {
    const std::int64_t most = number(job.fields, "max_attempts");
    std::int64_t attempts = 0;
    Time before{};
    for (const Event& event : job.events) {
        if (event.type == "claimed") ++attempts;
        if (event.type == "handed_back") --attempts;
        row.expect(event.attempt == attempts, job.id, describe(event) + ": wrong attempt");
        if (event.type == "claimed") row.expect(attempts <= most, job.id, "too many attempts");
        if (event.type == "failed") {
            row.expect(attempts == most || was_given_up(evidence, event), job.id,
                       "failed with attempts left");
        }
        if (event.type == "retried" && policy != nullptr && !event.is_release()) {
            look_at_retry(job, before, event, *policy, limits, row);
        }
        before = event.at;
    }
    row.expect(number(job.fields, "attempt") == attempts, job.id,
               "its attempts are not its claims");
}

}  // namespace

// Each step is in the table, and starts in the state in which the one before it ended.
void legal_steps(const Evidence& evidence, const Limits& limits, Row& row) {
    for (const auto& [id, job] : evidence.jobs) {
        std::string state;
        Time before{};
        for (const Event& event : job.events) {
            row.expect(is_legal(event), id, describe(event) + " is no legal step");
            if (event.type != "lease_closed") {
                row.expect(event.from == state, id, describe(event) + " comes in state " + state);
            }
            row.expect((event.type == "submitted") == (event.seq == 1), id,
                       describe(event) + " is at the wrong place");
            row.expect(event.at + limits.slack >= before, id,
                       describe(event) + " is older than the one before");
            if (!event.to.empty()) state = event.to;
            before = event.at;
        }
        row.expect(state == job.state, id, "is " + job.state + ", but its history says " + state);
    }
}

// After its end nothing happens to a job but that its worker stops.
void ends_are_final(const Evidence& evidence, const Limits&, Row& row) {
    for (const auto& [id, job] : evidence.jobs) {
        bool ended = false;
        for (const Event& event : job.events) {
            row.expect(!ended || event.type == "lease_closed", id,
                       describe(event) + " comes after its end");
            row.expect(!is_final(event.from), id, describe(event) + " leaves a final state");
            ended = ended || event.is_end();
        }
    }
}

void one_completion(const Evidence& evidence, const Limits&, Row& row) {
    for (const auto& [id, job] : evidence.jobs) {
        const auto ends = std::count_if(job.events.begin(), job.events.end(),
                                        [](const Event& event) { return event.is_end(); });
        row.expect(ends == 1, id, fmt::format("ended {} times", ends));
    }
}

// Attempts are claims less hand-backs and never over the limit; a retry waits as its policy says; a
// job fails only when its attempts are used up or its worker reported that a retry is no use. The
// time of a step is never before that of the last one, while what is due is judged by the clock:
// where that was set, the two times of a retry have nothing to do with each other.
void attempts_are_counted(const Evidence& evidence, const Limits& limits, Row& row) {
    const auto policies = limits.clock_steps ? std::map<std::string, Json>() : backoffs(evidence);
    for (const auto& [id, job] : evidence.jobs) {
        const auto policy = policies.find(id);
        look_at_attempts(evidence, job, policy == policies.end() ? nullptr : &policy->second,
                         limits, row);
    }
}

// Events are numbered without gaps, each has a hash of its own, and the job counts as many. Where
// the history has the rows of the store, the hashes are computed anew.
void history_is_whole(const Evidence& evidence, const Limits&, Row& row) {
    hashes_hang_together(evidence, row);
    entity_hashes_hang_together(evidence, row);
    std::set<std::string> hashes;
    for (const auto& [id, job] : evidence.jobs) {
        std::int64_t seq = 0;
        for (const Event& event : job.events) {
            row.expect(event.seq == ++seq, id, describe(event) + " is out of order");
            row.expect(event.hash.size() == 64 && hashes.insert(event.hash).second, id,
                       describe(event) + " has no hash of its own");
        }
        row.expect(number(job.fields, "revision") == seq, id,
                   fmt::format("has {} events and another revision", seq));
    }
}

// A read shows the job as it was after some of its events, never fewer than an earlier read or a
// step that the reader could know of; a job that was acknowledged is found.
void reads_agree_with_history(const Evidence& evidence, const Limits& limits, Row& row) {
    struct Seen {
        Time t1;
        std::int64_t revision;
    };
    std::map<std::string, std::vector<Seen>> seen;
    for (const Operation& operation : evidence.operations) {
        const bool is_read = operation.op == "read" || operation.op == "cancel";
        if (!is_read || operation.outcome == Outcome::info) continue;
        if (may_be_removed(evidence, limits, operation.job)) continue;
        const Job* job = evidence.find(operation.job);
        row.expect(operation.status != 404 && job != nullptr, operation.job, "was not found");
        if (job == nullptr || operation.outcome != Outcome::ok) continue;
        const std::int64_t revision = number(operation.result, "revision");
        row.expect(text(operation.result, "state") == state_after(*job, revision), job->id,
                   fmt::format("was read as {} at revision {}, which its history does not know",
                               text(operation.result, "state"), revision));
        for (const Seen& earlier : seen[job->id]) {
            if (earlier.t1 >= operation.t0) continue;
            row.expect(revision >= earlier.revision, job->id, "was read in an older state later");
        }
        seen[job->id].push_back({operation.t1, revision});
    }
}

}  // namespace sluice::checker
