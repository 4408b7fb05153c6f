#pragma once

#include "checker/evidence.hpp"
#include "checker/verdict.hpp"

namespace sluice::checker {

// Judges a run by what its clients saw and by what the engine says of it afterwards, knowing
// nothing of the engine's code. The run must have been given time to end all of its jobs.
Verdict check(const Evidence& evidence);

// As the record itself says in its "plan"; the usual ones otherwise.
Limits limits_of(const Evidence& evidence);

}  // namespace sluice::checker
