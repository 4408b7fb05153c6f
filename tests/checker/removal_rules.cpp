// Jobs go when they are old enough, and not before.
#include <algorithm>
#include <map>
#include <optional>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

// When the job ended, as somebody was told who read it.
std::optional<Time> told_end(const Evidence& evidence, const std::string& id) {
    for (const Operation& operation : evidence.operations) {
        if (operation.outcome != Outcome::ok || text(operation.result, "id") != id) continue;
        if (!is_final(text(operation.result, "state"))) continue;
        const std::string end = text(operation.result, "completed_at");
        if (!end.empty()) return parse_time(end);
    }
    return std::nullopt;
}

// From when on it is known that the job was accepted.
std::map<std::string, Time> accepted_jobs(const Evidence& evidence) {
    std::map<std::string, Time> accepted;
    for (const Operation& operation : evidence.operations) {
        if (!operation.is_ok("submit") && !operation.is_ok("replay")) continue;
        accepted.try_emplace(text(operation.result, "id"), operation.t1);
    }
    return accepted;
}

void look_at_absence(const std::optional<Time>& end, const std::string& id, Time seen,
                     const Limits& limits, Row& row) {
    row.expect(limits.retention.count() > 0, id, "is gone, and jobs are kept for ever");
    row.expect(end.has_value(), id, "is gone, and nobody has seen its end");
    if (!end) return;
    row.expect(*end + limits.retention <= seen + limits.slack + limits.clocks, id,
               "is gone before its time");
}

}  // namespace

// A job that was acknowledged is there until it has ended and its retention has passed since. One
// that was gone once is never there again.
void removals_are_due(const Evidence& evidence, const Limits& limits, Row& row) {
    Time last{};
    for (const Operation& operation : evidence.operations) last = std::max(last, operation.t1);
    const std::map<std::string, Time> accepted = accepted_jobs(evidence);
    for (const auto& [id, since] : accepted) {
        if (evidence.find(id) != nullptr) {
            row.expect(true, id, "");
        } else {
            look_at_absence(told_end(evidence, id), id, last, limits, row);
        }
    }
    for (const Operation& operation : evidence.operations) {
        const auto known = accepted.find(operation.job);
        const bool is_missed = operation.op == "read" && operation.outcome == Outcome::fail &&
                               operation.code == "not_found";
        if (!is_missed || known == accepted.end() || operation.t0 < known->second) continue;
        row.expect(evidence.find(operation.job) == nullptr, operation.job,
                   "was gone, and is there again");
        look_at_absence(told_end(evidence, operation.job), operation.job, operation.t1, limits,
                        row);
    }
}

}  // namespace sluice::checker
