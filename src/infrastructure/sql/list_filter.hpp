#pragma once

#include <algorithm>
#include <vector>

#include "application/ports/job_reader.hpp"

// The properties of a filter by which both stores choose the tables and indexes of a list.
namespace sluice {

template <class Property>
inline bool all_states_are(const JobFilter& filter, Property&& property) {
    return !filter.states.empty() &&
           std::all_of(filter.states.begin(), filter.states.end(), property);
}

inline bool is_running(JobState state) {
    return state == JobState::running;
}

inline bool is_unsuccessful(JobState state) {
    return is_final(state) && state != JobState::succeeded;
}

inline bool is_unfinished(JobState state) {
    return !is_final(state);
}

inline bool wants_type_of_entity(const JobFilter& filter) {
    return !filter.tenant.empty() && !filter.entity_type.empty() && !filter.entity_id.empty() &&
           !filter.type.empty();
}

// A job that a worker runs has not succeeded.
inline bool wants_successes(const JobFilter& filter) {
    return wants_type_of_entity(filter) && filter.worker_id.empty() &&
           filter.states == std::vector{JobState::succeeded};
}

// Whether SQL can tell exactly which jobs the filter accepts. It cannot tell two labels apart when
// one contains the other.
inline bool is_exact_in_sql(const JobFilter& filter) {
    return filter.label.empty();
}

// A condition on a column, for filters that give this field.
struct TextCondition {
    const char* sql;
    const std::string JobFilter::*field;
};

}  // namespace sluice
