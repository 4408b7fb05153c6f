#pragma once

#include <string>

#include "application/ports/job_reader.hpp"
#include "infrastructure/postgres/columns.hpp"

namespace sluice::postgres {

// What a list is read from, which decides how much it reads.
enum class ListDriver { jobs, leases, done, unsuccessful, queue };

ListDriver driver_of(const JobFilter& filter);

// A part of the ids, from the newest below `before` down to `from`.
struct IdRange {
    JobId before;
    JobId from;
};

struct ListQuery {
    std::string text;
    Params params;
};

// Finds the ids of up to `count` jobs that a filter may accept, newest first. It leaves out no job
// that the filter accepts; whether it accepts a candidate is for JobFilter::accepts to say.
ListQuery list_query(const JobFilter& filter, ListDriver driver, IdRange range, int count);

}  // namespace sluice::postgres
