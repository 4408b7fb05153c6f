// Submits that limits refuse: of a blocked tenant, and during maintenance that takes no jobs.
#include <algorithm>
#include <functional>
#include <map>

#include "checker/limit_versions.hpp"
#include "checker/rules.hpp"

namespace sluice::checker {
namespace {

bool makes_jobs(const Operation& operation) {
    return !operation.is_part &&
           (operation.op == "submit" || operation.op == "batch" || operation.op == "replay");
}

// What repeated requests have in common; none: nothing repeats it.
std::string name_of(const Operation& operation) {
    const std::string& name = operation.op == "submit" ? operation.ref : operation.key;
    return name.empty() ? name : operation.op + " " + name;
}

// Whether one of these that holds for the tenant fulfils the condition.
bool has_any(const std::vector<LimitVersion>& versions, const std::string& tenant,
             const std::function<bool(const LimitVersion&)>& condition) {
    return std::any_of(versions.begin(), versions.end(), [&](const LimitVersion& version) {
        return version.may_be_of(tenant) && condition(version);
    });
}

}  // namespace

// From the commit of a change on that lets no jobs be taken of a tenant, none is; but a request
// that was sent before may have been accepted before, and is answered as it was then. Without such
// a change none is refused.
void refused_submits_make_nothing(const Evidence& evidence, const Limits& limits, Row& row) {
    std::vector<LimitVersion> versions = limit_versions(evidence, limits);
    std::erase_if(versions, [](const auto& version) { return !version.terms.refuses_submits; });
    std::map<std::string, Time> first_sent;
    for (const Operation& operation : evidence.operations) {
        if (!makes_jobs(operation)) continue;
        const std::string name = name_of(operation);
        const Time sent =
            name.empty() ? operation.t0 : first_sent.try_emplace(name, operation.t0).first->second;
        // A refusal changes nothing, so a node may refuse until it knows that the change was
        // lifted.
        const Interval lately{operation.t0 - limits.lateness, operation.t1};
        if (operation.status == 403) {
            row.expect(has_any(versions, operation.tenant,
                               [&](const auto& one) { return one.possible.touches(lately); }),
                       operation.actor, operation.op + " was refused though the tenant may work");
        }
        const bool is_refused = has_any(versions, operation.tenant, [&](const auto& version) {
            return version.certain.has(sent, operation.t1);
        });
        if (!is_refused) continue;
        row.expect(operation.outcome != Outcome::ok, operation.actor,
                   operation.op + " was accepted while no jobs were taken: " + name);
    }
}

}  // namespace sluice::checker
