#include "checker/waiting_jobs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "checker/limit_versions.hpp"

namespace sluice::checker {
namespace {

// By job: when its first cancel was sent, and when the first was answered that was accepted.
using Cancels = std::map<std::string, Interval>;

Cancels all_cancels(const Evidence& evidence) {
    Cancels cancels;
    for (const Operation& operation : evidence.operations) {
        if (operation.op != "cancel") continue;
        Interval& known =
            cancels.try_emplace(operation.job, Interval{operation.t0, Time::max()}).first->second;
        if (operation.outcome == Outcome::ok) known.until = std::min(known.until, operation.t1);
    }
    return cancels;
}

// The earliest and the latest at which the job may have been taken from the queue, if that is
// known.
std::optional<Interval> first_taken(const Evidence& evidence, const Job& job,
                                    const Cancels& cancels, const Limits& limits) {
    if (job.events.size() < 2) return std::nullopt;
    const Event& second = job.events[1];
    if (second.type == "claimed") {
        const Time told = second.at - limits.clocks;
        const auto lease = evidence.leases.find(second.lease);
        const bool is_known = lease != evidence.leases.end() && lease->second.given != nullptr;
        if (!is_known) return Interval{told, Time::max()};
        const Operation& given = *lease->second.given;
        return Interval{std::max(told, given.t0), given.t1};
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

}  // namespace

std::vector<WaitingJob> waiting_jobs(const Evidence& evidence, const Limits& limits) {
    const Cancels cancels = all_cancels(evidence);
    std::map<std::string, Time> first_sent;  // by mark
    std::vector<WaitingJob> all;
    std::set<std::string> seen;
    for (const Operation& submit : evidence.operations) {
        if (submit.op != "submit") continue;
        const Time sent = first_sent.try_emplace(submit.ref, submit.t0).first->second;
        if (submit.outcome != Outcome::ok) continue;
        const Job* job = evidence.find(text(submit.result, "id"));
        if (job == nullptr || !is_free_from_the_start(*job, submit)) continue;
        if (!seen.insert(job->id).second) continue;
        const auto taken = first_taken(evidence, *job, cancels, limits);
        if (taken) all.push_back({job, sent, submit.t1, taken->from, taken->until});
    }
    return all;
}

}  // namespace sluice::checker
