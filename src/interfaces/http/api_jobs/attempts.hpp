#pragma once

#include <optional>
#include <string>
#include <vector>

#include "application/ports/job_reader.hpp"

namespace sluice::http::api_jobs {

// One claim of a job, as its history has it.
struct Attempt {
    int number = 0;
    LeaseId lease{};
    std::string worker_id{};
    Timestamp started_at{};
    std::optional<Timestamp> ended_at{};
    std::optional<Step> outcome{};           // the step that ended it
    std::optional<Timestamp> released_at{};  // when the lease ended: not before the attempt did
};

// All of them, oldest first.
std::vector<Attempt> read_attempts(JobReader& reader, const Job& job);

}  // namespace sluice::http::api_jobs
