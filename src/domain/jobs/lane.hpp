#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "domain/jobs/job.hpp"

namespace sluice {

// The fields by which claims and limits can tell jobs apart. Jobs of one lane are interchangeable
// to every worker.
struct Lane {
    std::string tenant;
    std::string queue;
    std::string type;
    std::vector<std::string> labels{};
    std::string source{};  // no claim asks for it: limits go by it

    auto operator<=>(const Lane&) const = default;
};

inline Lane lane_of(const JobSpec& spec) {
    return {spec.tenant, spec.queue, spec.type, spec.labels, spec.source};
}

// The jobs that a worker is willing and able to run.
struct ClaimFilter {
    std::string tenant = "default";
    bool any_tenant = false;            // for the engine's own workers: `tenant` is ignored
    std::vector<std::string> queues{};  // empty: any; sorted
    std::vector<std::string> types{};   // empty: any; sorted
    std::vector<std::string> labels{};  // of the worker; sorted

    auto operator<=>(const ClaimFilter&) const = default;

    // A worker may have more labels than the job asks for, never fewer.
    bool accepts(const Lane& lane) const {
        const auto names = [](const std::vector<std::string>& list, const std::string& name) {
            return list.empty() || std::binary_search(list.begin(), list.end(), name);
        };
        return (any_tenant || tenant == lane.tenant) && names(queues, lane.queue) &&
               names(types, lane.type) &&
               std::includes(labels.begin(), labels.end(), lane.labels.begin(), lane.labels.end());
    }
};

}  // namespace sluice
