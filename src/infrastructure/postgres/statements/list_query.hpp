#pragma once

#include <string>

#include "application/ports/job_reader.hpp"
#include "infrastructure/postgres/connection/columns.hpp"

namespace sluice::postgres {

// The table or index that a list is read from, which decides how much it reads.
enum class ListDriver {
    jobs,
    leases,
    done,
    unsuccessful,
    ended_of_type,
    successes,
    jobs_of_entity,
    queue
};

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

// The jobs that such a filter accepts: their ids, newest first, without the first `offset` of them;
// and how many there are.
ListQuery page_query(const JobFilter& filter, std::int64_t offset, int limit);
ListQuery count_query(const JobFilter& filter);

}  // namespace sluice::postgres
