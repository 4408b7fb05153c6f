#include "application/entities/gate_search.hpp"

#include <algorithm>

#include "json/json_values.hpp"

namespace sluice {
namespace {

constexpr int page = 20;  // jobs with their payloads in memory at once
constexpr std::size_t page_bytes = 1024 * 1024;

}  // namespace

JobFilter checks_of(const Entity& entity, const Gate& gate) {
    return {.tenant = entity.key.tenant,
            .type = gate.job_type,
            .project = entity.parent,
            .entity_type = entity.key.kind,
            .entity_id = entity.key.id};
}

JobFilter successes_of(const Entity& entity, const Gate& gate) {
    JobFilter filter = checks_of(entity, gate);
    filter.states = {JobState::succeeded};
    return filter;
}

bool is_of_this_revision(const Entity& entity, const Attributes& payload) {
    for (const char* name : {"head_sha", "assembly_id"}) {
        const auto checked = text_of(payload, name);
        const auto present = text_of(entity.attributes, name);
        if (checked && present && *checked != *present) return false;
    }
    return true;
}

bool ran_against(const Attributes& payload, const Entity& profile) {
    return text_of(payload, "runtime_profile_id") == profile.key.id &&
           integer_of(payload, "runtime_profile_revision") ==
               integer_of(profile.attributes, "profile_revision");
}

bool ran_against_none_other(const Attributes& payload, ProfileChoice choice) {
    const auto kind = text_of(payload, "runtime_profile_kind");
    if (!kind || choice == ProfileChoice::none) return true;
    return kind->starts_with("temp_") == (choice == ProfileChoice::temp);
}

bool is_intact_success(const Job& job) {
    return job.now.state == JobState::succeeded && job.damage.empty();
}

bool GateSearch::has_use_for(const Job& job) {
    if (found_ || !is_intact_success(job)) return false;
    const Attributes payload = json_members(job.spec->payload);
    if (!is_of_this_revision(entity_, payload)) return false;
    if (any_will_do_) return ran_against_none_other(payload, choice_);
    return std::erase_if(missing_,
                         [&](const Entity& profile) { return ran_against(payload, profile); }) > 0;
}

void GateSearch::look_at(const Job& job) {
    if (!has_use_for(job)) return;
    counted_.push_back(job.spec->id);
    found_ = any_will_do_ || missing_.empty();
}

bool GateSearch::look_through(Checks& checks, const JobFilter& filter) {
    JobId before = newest;
    int left = checks_looked_at;
    bool more = true;
    if (const std::optional<Job>* const first = checks.newest_of(filter)) {
        more = first->has_value();
        if (more) {
            look_at(**first);
            before = (*first)->spec->id;
            --left;
        }
    }
    while (more && left > 0 && !found_) {
        const ListLimit limit(std::min(page, left), page_bytes);
        ListCount count(limit);
        for (const Job& check : checks.jobs().list(filter, before, limit)) {
            look_at(check);
            count.add(check);
            before = check.spec->id;
            --left;
        }
        more = count.is_full();
    }
    return more;
}

Checks::Name Checks::name_of(const JobFilter& filter) {
    return {filter.tenant, filter.project, filter.entity_type, filter.entity_id, filter.type};
}

void Checks::fetch(std::vector<JobFilter> filters) {
    std::erase_if(filters, [&](const JobFilter& filter) { return newest_of(filter) != nullptr; });
    if (filters.empty()) return;
    std::vector<std::optional<Job>> found = jobs_.newest_of(filters);
    for (std::size_t i = 0; i < filters.size(); ++i) {
        newest_.emplace(name_of(filters[i]), std::move(found[i]));
    }
}

const std::optional<Job>* Checks::newest_of(const JobFilter& filter) const {
    const auto known = newest_.find(name_of(filter));
    return known == newest_.end() ? nullptr : &known->second;
}

}  // namespace sluice
