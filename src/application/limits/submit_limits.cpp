#include "application/limits/submit_limits.hpp"

#include <fmt/format.h>

#include "application/limits/change_limits.hpp"
#include "application/toolkit/names.hpp"
#include "application/toolkit/refused_submits.hpp"

namespace sluice {

std::optional<Error> SubmitLimits::refuse(const JobSpec& spec) {
    if (auto refusal = refused_submit(*rules_, spec.tenant, tx_.now())) return refusal;
    return spec.source.empty() ? std::nullopt : refuse_source(spec);
}

std::int64_t& SubmitLimits::count_of_sources(const std::string& tenant) {
    const auto [count, is_first] = counts_of_sources_.try_emplace(tenant);
    if (is_first) count->second = tx_.limits().count_of_sources(tenant);
    return count->second;
}

// Sources that are new in this batch count as soon as they are seen.
std::optional<Error> SubmitLimits::refuse_source(const JobSpec& spec) {
    if (spec.source.find('*') != std::string::npos) {
        return sluice::refuse("source",
                              fmt::format("must not have a *, which in a rule stands for the end "
                                          "of a name: \"{}\" could not be paused. Give another "
                                          "source; without one, that of a service is the name of "
                                          "its token",
                                          spec.source));
    }
    std::pair source(spec.tenant, spec.source);
    if (known_sources_.contains(source)) return std::nullopt;
    if (!tx_.limits().knows_source(spec.tenant, spec.source)) {
        std::int64_t& count = count_of_sources(spec.tenant);
        if (count >= limits::sources_of_tenant) {
            return sluice::refuse("source",
                                  fmt::format("would be a new one, and tenant {} has {} already",
                                              spec.tenant, limits::sources_of_tenant));
        }
        ++count;
    }
    known_sources_.insert(std::move(source));
    return std::nullopt;
}

}  // namespace sluice
