#pragma once

#include "checker/evidence.hpp"
#include "checker/verdict.hpp"

namespace sluice::checker {

// Judges a run by its clients' record and by the engine's history, without any code of the engine.
// The run must have been given time to end all of its jobs.
Verdict check(const Evidence& evidence);

// The limits in the record's "plan"; the default ones otherwise.
Limits limits_of(const Evidence& evidence);

}  // namespace sluice::checker
