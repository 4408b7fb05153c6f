// Jobs that wait for others, and those that would wait for ever.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

// When the request that ended this job was first sent, if a worker sent it.
std::optional<Time> end_sent(const Evidence& evidence, const Event& end) {
    const auto lease = evidence.leases.find(end.lease);
    if (!end.is_by_worker() || lease == evidence.leases.end()) return std::nullopt;
    std::optional<Time> first;
    for (const Operation* said : lease->second.spoken) {
        if (said->op == "report") first = std::min(first.value_or(said->t0), said->t0);
    }
    return first;
}

// A removed dependency has succeeded, or it would still be there; a client may know when.
void look_at_removed(const Evidence& evidence, const Job& job, const std::string& id,
                     const Limits& limits, Row& row) {
    const auto& end = evidence.gone.at(id).end;
    for (const Event& event : job.events) {
        if (event.type != "claimed" || !end) continue;
        row.expect(*end <= event.at + limits.slack, job.id,
                   "was claimed before its dependency had ended, which is gone: " + id);
    }
}

// By the history's clock, and by the clocks of the two workers.
void look_at_dependency(const Evidence& evidence, const Job& job, const std::string& id,
                        const Limits& limits, Row& row) {
    if (may_be_removed(evidence, limits, id))
        return look_at_removed(evidence, job, id, limits, row);
    const Job* dependency = evidence.find(id);
    const Event* end = dependency == nullptr ? nullptr : dependency->end();
    row.expect(end != nullptr, job.id, "its dependency has no end: " + id);
    if (end == nullptr) return;
    const auto sent = end_sent(evidence, *end);
    for (const Event& event : job.events) {
        if (event.type != "claimed") continue;
        const Operation* given = evidence.leases.at(event.lease).given;
        const bool is_known_early = sent && given != nullptr && given->t1 < *sent;
        row.expect(end->at <= event.at + limits.slack && !is_known_early, job.id,
                   "was claimed before its dependency had ended: " + id);
    }
}

// By job: the policy that was sent with it.
std::map<std::string, std::string> dependency_policies(const Evidence& evidence) {
    std::map<std::string, std::string> policies;
    for (const Operation& operation : evidence.operations) {
        if (!operation.is_ok("submit")) continue;
        policies[text(operation.result, "id")] =
            text(member_of(operation.args, "body"), "on_dependency_failure");
    }
    return policies;
}

// The indexes in the batch of the jobs that this job waits for.
std::set<std::size_t> places_of(const Json& body) {
    std::set<std::size_t> places;
    for (const Json& dependency : list(body, "depends_on")) {
        const std::string name(dependency.as_string());
        if (name.starts_with('#')) places.insert(std::stoul(name.substr(1)));
    }
    return places;
}

// Whether some jobs of a batch wait for each other: they stay when all that can run have run.
bool has_circle(const boost::json::array& bodies) {
    std::set<std::size_t> waiting;
    for (std::size_t i = 0; i < bodies.size(); ++i) waiting.insert(i);
    for (bool moves = true; moves;) {
        moves = false;
        for (auto place = waiting.begin(); place != waiting.end();) {
            const std::set<std::size_t> others = places_of(bodies[*place]);
            const bool can_run = std::none_of(others.begin(), others.end(), [&](std::size_t other) {
                return waiting.contains(other);
            });
            place = can_run ? waiting.erase(place) : std::next(place);
            moves = moves || can_run;
        }
    }
    return !waiting.empty();
}

// Whether `is` holds for one of the jobs outside its batch that this job waits for.
template <class Is>
bool waits_for_one_that(const Json& body, Is is) {
    const auto& names = list(body, "depends_on");
    return std::any_of(names.begin(), names.end(), [&](const Json& dependency) {
        const std::string name(dependency.as_string());
        return !name.starts_with('#') && is(name);
    });
}

bool waits_for_a_stranger(const Evidence& evidence, const std::string& tenant, const Json& body) {
    return waits_for_one_that(body, [&](const std::string& name) {
        const auto gone = evidence.gone.find(name);
        if (gone != evidence.gone.end()) return gone->second.tenant != tenant;
        const Job* job = evidence.find(name);
        return job == nullptr || job->tenant() != tenant;
    });
}

// Whether `is` holds for one of the jobs of a submit or of a batch.
template <class Is>
bool has_body_that(const Operation& operation, Is is) {
    const auto& bodies = list(operation.args, "bodies");
    return is(member_of(operation.args, "body")) || std::any_of(bodies.begin(), bodies.end(), is);
}

void look_at_acceptance(const Evidence& evidence, const Operation& operation, Row& row) {
    if (operation.op != "submit" && operation.op != "batch") return;
    if (operation.outcome == Outcome::info || !asks_the_impossible(evidence, operation)) return;
    row.expect(operation.outcome == Outcome::fail, operation.actor,
               "a job was accepted that waits for a circle or for another tenant's job");
}

}  // namespace

bool asks_the_impossible(const Evidence& evidence, const Operation& operation) {
    if (has_circle(list(operation.args, "bodies"))) return true;
    return has_body_that(operation, [&](const Json& body) {
        return waits_for_a_stranger(evidence, operation.tenant, body);
    });
}

bool asks_for_the_removed(const Evidence& evidence, const Limits& limits,
                          const Operation& operation) {
    return has_body_that(operation, [&](const Json& body) {
        return waits_for_one_that(
            body, [&](const std::string& name) { return may_be_removed(evidence, limits, name); });
    });
}

// A job runs after its dependencies have ended; when one of them did not succeed, it is canceled
// and never runs, unless it was submitted to run then, too; and it is canceled for no other reason.
// A job that waits for itself, directly or by way of others, or for another tenant's job, is
// refused.
void dependencies_first(const Evidence& evidence, const Limits& limits, Row& row) {
    for (const Operation& operation : evidence.operations) {
        look_at_acceptance(evidence, operation, row);
    }
    const auto policies = dependency_policies(evidence);
    for (const auto& [id, job] : evidence.jobs) {
        bool has_failed = false;
        const auto& depends_on = list(job.fields, "depends_on");
        for (const Json& dependency : depends_on) {
            const std::string name(dependency.as_string());
            look_at_dependency(evidence, job, name, limits, row);
            const Job* found = evidence.find(name);
            has_failed = has_failed || (found != nullptr && found->state != "succeeded");
        }
        const bool is_canceled = text(job.fields, "error_code") == "DEPENDENCY_FAILED";
        if (is_canceled) row.expect(has_failed, id, "was canceled, and its dependencies succeeded");
        const auto policy = policies.find(id);
        if (depends_on.empty() || policy == policies.end()) continue;
        if (policy->second == "run") {
            row.expect(!is_canceled, id, "was canceled, and was to run after a failure, too");
        } else if (has_failed) {
            const bool ran = std::any_of(job.events.begin(), job.events.end(),
                                         [](const Event& e) { return e.type == "claimed"; });
            row.expect(job.state == "canceled" && !ran, id, "ran though its dependency failed");
        }
    }
}

}  // namespace sluice::checker
