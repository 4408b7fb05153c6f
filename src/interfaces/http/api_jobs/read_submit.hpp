#pragma once

#include "application/ports/commands.hpp"
#include "interfaces/http/toolkit/app.hpp"

namespace sluice::http::api_jobs {

// A request for a new job. Retries are new jobs: it has one attempt unless it asks for more.
Result<SubmitJobs> read_submit(const Call& call);

}  // namespace sluice::http::api_jobs
