#pragma once

#include "interfaces/http/route.hpp"

// Seed 002, and what 003 shares with it: jobs in camelCase.
namespace sluice::http::jobs {

const Contract& contract();

}  // namespace sluice::http::jobs
