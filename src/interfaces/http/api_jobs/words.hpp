#pragma once

#include <string_view>
#include <vector>

#include "domain/jobs/job_state.hpp"
#include "domain/values/result.hpp"

namespace sluice::http::api_jobs {

// Two sets of words for the states of a job. `state` says a timeout as "failed", `status` keeps it
// apart.
enum class Vocabulary { state, status };

std::string_view word_for(JobState state, Vocabulary vocabulary);

// The states that these words, parted by commas, stand for. Words of the other vocabulary are
// understood where this one does not have them. No words: no states.
Result<std::vector<JobState>> read_states(std::string_view words, Vocabulary vocabulary);

}  // namespace sluice::http::api_jobs
