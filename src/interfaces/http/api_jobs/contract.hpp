#pragma once

#include "interfaces/http/toolkit/route.hpp"

// Seed 002, and what 003 shares with it: jobs in camelCase.
namespace sluice::http::api_jobs {

const Contract& contract();

}  // namespace sluice::http::api_jobs
