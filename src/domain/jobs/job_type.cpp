#include "domain/jobs/job_type.hpp"

namespace sluice {
void JobTypes::put(JobType type) {
    std::string name = type.name;
    types_.insert_or_assign(std::move(name), std::move(type));
}

const JobType* JobTypes::find(std::string_view name) const {
    const auto found = types_.find(name);
    if (found != types_.end()) return &found->second;
    return strict_ ? nullptr : &default_;
}

}  // namespace sluice
