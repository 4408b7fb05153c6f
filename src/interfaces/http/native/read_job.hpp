#pragma once

#include <vector>

#include "application/toolkit/make_job.hpp"
#include "json/json_reader.hpp"

namespace sluice::http::native {

// A job as the body of a submit gives it.
struct JobRequest {
    NewJob job;
    std::vector<std::size_t> siblings;  // jobs of the same batch that it depends on, by index
};

// Reads one job, of this tenant unless it names another one. In a batch, a "#3" in depends_on
// stands for the job at that index.
JobRequest read_job(JsonReader& reader, const std::string& tenant, bool in_batch);

}  // namespace sluice::http::native
