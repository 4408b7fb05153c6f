// Reports of workers and cancels of clients agree with the history.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

const Json& body_of(const Operation& operation) {
    return member_of(operation.args, "body");
}

// The event with the last message of this lease's worker.
const Event* kept(const Job& job, const Lease& lease) {
    for (const Event& event : job.events) {
        if (event.lease == lease.id && event.type != "claimed" && event.is_by_worker()) {
            return &event;
        }
    }
    return nullptr;
}

bool tells(const Event& event, const std::string& outcome) {
    if (event.type == "retried") return text(event.detail, "outcome") == outcome;
    if (event.type == "lease_closed") return text(event.detail, "reported") == outcome;
    return event.type == outcome;
}

void look_at_report(const Job& job, const Lease& lease, const Operation& report, Row& row) {
    const std::string outcome = text(body_of(report), "outcome");
    const Event* event = kept(job, lease);
    row.expect(event != nullptr && tells(*event, outcome), lease.id,
               outcome + " was accepted, and the history does not tell it");
    if (event == nullptr || !event->is_end()) return;
    row.expect(job.state == outcome, lease.id,
               outcome + " was accepted, and the job is " + job.state);
    row.expect(member_of(job.fields, "result") == member_of(body_of(report), "result"), lease.id,
               "the job has another result than was reported");
}

void look_at_release(const Job& job, const Lease& lease, Row& row) {
    const Event* event = kept(job, lease);
    row.expect(event != nullptr && (event->type == "handed_back" || event->type == "lease_closed"),
               lease.id, "was handed back, and the history does not tell it");
}

bool is_same_answer(const Operation& a, const Operation& b) {
    if (a.status != b.status || a.code != b.code) return false;
    return a.outcome != Outcome::ok || a.result == b.result;  // refusals carry a request's id
}

// Jobs that a client canceled, or may have.
std::set<std::string> perhaps_canceled(const Evidence& evidence) {
    std::set<std::string> jobs;
    for (const Operation& operation : evidence.operations) {
        if (operation.op == "cancel" && operation.outcome != Outcome::fail) {
            jobs.insert(operation.job);
        }
    }
    return jobs;
}

// A lease was taken away only if an operator asked for that, and as often as one did at most; what
// was answered has happened.
void look_at_releases(const Evidence& evidence, const Limits& limits, Row& row) {
    struct Asked {
        int perhaps = 0;
        int surely = 0;
    };
    std::map<std::string, Asked> asked;  // by job
    for (const Operation& operation : evidence.operations) {
        if (operation.op != "release_lease") continue;
        Asked& of_job = asked[operation.job];
        const int times = limits.repeated_requests ? 2 : 1;
        const bool was_refused = operation.outcome == Outcome::fail && times == 1;
        if (!was_refused) of_job.perhaps += times;
        if (operation.outcome == Outcome::ok) ++of_job.surely;
    }
    for (const auto& [id, job] : evidence.jobs) {
        const auto count = std::count_if(job.events.begin(), job.events.end(),
                                         [](const Event& event) { return event.is_release(); });
        const auto found = asked.find(id);
        if (count == 0 && found == asked.end()) continue;
        const Asked of_job = found == asked.end() ? Asked{} : found->second;
        row.expect(of_job.surely <= count && count <= of_job.perhaps, id,
                   fmt::format("lost {} leases to operators, of whom {} were told so, {} maybe",
                               count, of_job.surely, of_job.perhaps));
    }
}

// A canceled job was canceled by a client or for a dependency.
void look_at_causes(const Evidence& evidence, Row& row) {
    const std::set<std::string> by_clients = perhaps_canceled(evidence);
    for (const auto& [id, job] : evidence.jobs) {
        const Event* end = job.end();
        if (end == nullptr || end->type != "canceled" || end->is_by_worker()) continue;
        const bool by_dependency = text(job.fields, "error_code") == "DEPENDENCY_FAILED";
        row.expect(by_dependency || by_clients.contains(id), id, "was canceled by nobody");
    }
}

void look_at_cancel(const Job& job, const Operation& cancel, const Limits& limits, Row& row) {
    if (cancel.outcome == Outcome::ok) {
        row.expect(job.state == "canceled", job.id, "its cancel was accepted, and it " + job.state);
    } else if (cancel.outcome == Outcome::fail) {
        const Event* end = job.end();
        row.expect(end != nullptr && job.state != "canceled" && end->at <= cancel.t1 + limits.slack,
                   job.id, "its cancel was refused, and it had not ended otherwise");
    }
}

using Times = std::map<std::string, Time>;

// Whether a report after the cancel repeats one from before it that gave the job another attempt.
// Such a report gets the answer of the first one, which its worker may not have received.
bool repeats_a_retry(const Evidence& evidence, const Job& job, const Operation& report,
                     Time canceled) {
    const auto lease = evidence.leases.find(report.lease);
    if (lease == evidence.leases.end()) return false;
    const Event* event = kept(job, lease->second);
    if (event == nullptr || event->type != "retried") return false;
    const auto& spoken = lease->second.spoken;
    return std::any_of(spoken.begin(), spoken.end(), [&](const Operation* said) {
        return said->op == "report" && said->t0 <= canceled && body_of(*said) == body_of(report);
    });
}

// By job: when its first accepted cancel was answered.
Times accepted_cancels(const Evidence& evidence) {
    Times canceled;
    for (const Operation& operation : evidence.operations) {
        if (!operation.is_ok("cancel")) continue;
        const auto [at, is_first] = canceled.try_emplace(operation.job, operation.t1);
        if (!is_first) at->second = std::min(at->second, operation.t1);
    }
    return canceled;
}

}  // namespace

// A report or a hand-back that was acknowledged is in the history, with its outcome and result; and
// so is each lease that an operator took away.
void no_lost_report(const Evidence& evidence, const Limits& limits, Row& row) {
    for (const auto& [id, lease] : evidence.leases) {
        if (may_be_removed(evidence, limits, job_in(id))) continue;
        const Job* job = evidence.job_of(lease);
        for (const Operation* said : lease.spoken) {
            const bool is_report = said->is_ok("report");
            if (!is_report && !said->is_ok("release")) continue;
            row.expect(job != nullptr, id, "its report was accepted, and its job is gone");
            if (job == nullptr) continue;
            if (is_report) look_at_report(*job, lease, *said, row);
            if (!is_report) look_at_release(*job, lease, row);
        }
    }
    look_at_releases(evidence, limits, row);
}

// The same report again gets the same answer; of two different ones at most one is accepted.
void repeated_reports(const Evidence& evidence, const Limits& limits, Row& row) {
    for (const auto& [id, lease] : evidence.leases) {
        const bool is_removed = may_be_removed(evidence, limits, job_in(id));
        std::vector<const Operation*> answered;
        for (const Operation* said : lease.spoken) {
            if (is_removed && said->code == "not_found") continue;
            if (said->op == "report" && said->outcome != Outcome::info) answered.push_back(said);
        }
        for (std::size_t i = 0; i < answered.size(); ++i) {
            for (std::size_t k = i + 1; k < answered.size(); ++k) {
                const Operation& first = *answered[i];
                const Operation& second = *answered[k];
                if (body_of(first) == body_of(second)) {
                    row.expect(is_same_answer(first, second), id,
                               fmt::format("a repeated report got {} {}, not {} {}", second.status,
                                           second.code, first.status, first.code));
                } else {
                    row.expect(first.outcome != Outcome::ok || second.outcome != Outcome::ok, id,
                               "two different reports were accepted");
                }
            }
        }
    }
}

// An accepted cancel ends the job as canceled, its worker is told in its next heartbeat, and no
// success is accepted any more. A cancel is refused only when the job had ended otherwise.
void cancels_hold(const Evidence& evidence, const Limits& limits, Row& row) {
    look_at_causes(evidence, row);
    const Times canceled = accepted_cancels(evidence);
    for (const Operation& operation : evidence.operations) {
        const Job* job = evidence.find(operation.job);
        if (job == nullptr) continue;
        if (operation.op == "cancel") look_at_cancel(*job, operation, limits, row);
        const auto at = canceled.find(job->id);
        if (at == canceled.end() || operation.t0 <= at->second) continue;
        if (operation.is_ok("heartbeat")) {
            row.expect(flag(operation.result, "cancel_requested"), operation.lease,
                       "its heartbeat did not tell of the cancel");
        }
        if (operation.is_ok("report")) {
            row.expect(text(body_of(operation), "outcome") == "canceled" ||
                           repeats_a_retry(evidence, *job, operation, at->second),
                       operation.lease, "another report was accepted after the cancel");
        }
    }
}

}  // namespace sluice::checker
