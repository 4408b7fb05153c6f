#pragma once

#include <vector>

#include "checker/evidence.hpp"
#include "checker/verdict.hpp"

namespace sluice::checker {

// A job that waited for no key, time or other job, until it was first taken from the queue.
struct WaitingJob {
    const Job* job = nullptr;
    Time sent{};   // it did not exist before
    Time since{};  // its submit had been answered
    Time until{};  // it was waiting until then for certain, unless that is before `since`
    Time gone{};   // it was not waiting any more for certain
};

// Those of which it is known when they were taken, in the order of their submits.
std::vector<WaitingJob> waiting_jobs(const Evidence& evidence, const Limits& limits);

}  // namespace sluice::checker
