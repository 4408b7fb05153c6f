#pragma once

#include <span>
#include <string>
#include <vector>

#include "application/toolkit/transaction.hpp"

namespace sluice {

// Accepts jobs that the engine itself has made, which have their ids and were decided on with their
// entities. A job may depend on one that comes before it. Changes of entities order jobs, and jobs
// move entities: so this is declared here, below the jobs, and defined in jobs/submit_jobs.cpp.
std::vector<Job> submit_own(Transaction& tx, std::span<const JobSpec> specs,
                            const std::string& actor);

}  // namespace sluice
