#pragma once

#include "application/commands.hpp"
#include "interfaces/http/app.hpp"

namespace sluice::http::jobs {

// A request for a new job. Retries are new jobs: it has one attempt unless it asks for more.
Result<SubmitJobs> read_submit(const Call& call);

}  // namespace sluice::http::jobs
