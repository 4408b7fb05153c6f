// Jobs are removed when they are old enough, and not before.
#include <algorithm>
#include <map>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

// A client was told that the job does not exist: it was gone no later than then.
bool is_missed(const Evidence& evidence, const Operation& operation) {
    return operation.outcome == Outcome::fail && operation.code == "not_found" &&
           (evidence.find(operation.job) != nullptr || evidence.is_gone(operation.job));
}

// When each job was known to be accepted.
std::map<std::string, Time> accepted_jobs(const Evidence& evidence) {
    std::map<std::string, Time> accepted;
    for (const Operation& operation : evidence.operations) {
        if (!operation.is_ok("submit") && !operation.is_ok("replay")) continue;
        accepted.try_emplace(text(operation.result, "id"), operation.t1);
    }
    return accepted;
}

// The earliest moment at which the job can have ended, as far as clients know.
std::optional<Time> earliest_end(const GoneJob& gone) {
    return gone.end ? gone.end : gone.success_sent;
}

void look_at_absence(const std::string& id, const GoneJob& gone, Time seen, const Limits& limits,
                     Row& row) {
    row.expect(limits.retention.count() > 0, id, "is gone, and jobs are kept for ever");
    row.expect(!gone.keyed || *gone.keyed + limits.key_memory <= seen + limits.clocks, id,
               "is gone, and a key stands for it");
    row.expect(gone.state.empty() || gone.state == "succeeded", id,
               "is gone, and such jobs are kept for ever: " + gone.state);
    const auto end = earliest_end(gone);
    row.expect(end.has_value(), id, "is gone, and nothing can have ended it");
    if (!end) return;
    row.expect(*end + limits.retention <= seen + limits.slack + limits.clocks, id,
               "is gone before its time");
}

// The dependents of each job. When a job is accepted all its dependencies exist, so that a missing
// one was removed later.
std::map<std::string, std::vector<const Job*>> all_dependents(const Evidence& evidence) {
    std::map<std::string, std::vector<const Job*>> dependents;
    for (const auto& [id, job] : evidence.jobs) {
        for (const Json& dependency : list(job.fields, "depends_on")) {
            dependents[std::string(dependency.as_string())].push_back(&job);
        }
    }
    return dependents;
}

}  // namespace

// An acknowledged job exists until it has succeeded and its retention has passed since; it stays
// while a key refers to it, or while a job that depends on it has not ended. A removed job never
// comes back.
void removals_are_due(const Evidence& evidence, const Limits& limits, Row& row) {
    Time last{};
    for (const Operation& operation : evidence.operations) last = std::max(last, operation.t1);
    const std::map<std::string, Time> accepted = accepted_jobs(evidence);
    for (const auto& [id, since] : accepted) {
        if (!evidence.is_gone(id)) row.expect(true, id, "");
    }
    for (const auto& [id, gone] : evidence.gone) look_at_absence(id, gone, last, limits, row);
    const auto dependents = all_dependents(evidence);
    for (const Operation& operation : evidence.operations) {
        if (!is_missed(evidence, operation)) continue;
        const auto known = accepted.find(operation.job);
        const bool is_certain = known != accepted.end() && operation.t0 >= known->second;
        const auto gone = evidence.gone.find(operation.job);
        if (gone == evidence.gone.end()) {
            row.expect(!is_certain, operation.job, "was gone, and is there again");
            continue;
        }
        look_at_absence(operation.job, gone->second, operation.t1, limits, row);
        const auto waiting = dependents.find(operation.job);
        if (waiting == dependents.end()) continue;
        for (const Job* job : waiting->second) {
            const Event* end = job->end();
            row.expect(end != nullptr && end->at <= operation.t1 + limits.slack, operation.job,
                       "was gone while a job that depends on it had not ended: " + job->id);
        }
    }
}

}  // namespace sluice::checker
