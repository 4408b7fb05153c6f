#pragma once

#include <string>
#include <vector>

#include "application/ports/job_reader.hpp"
#include "infrastructure/sqlite/statement.hpp"

namespace sluice::sqlite {

// The SQL text for a filter, put together from the fixed pieces in queries.hpp.
std::string list_sql(const JobFilter& filter);

// Finds the ids of jobs that a filter may accept, newest first. It leaves out no job that the
// filter accepts; whether it accepts a candidate is for JobFilter::accepts to say.
class ListQuery {
  public:
    // The filter must live as long as the query.
    ListQuery(sqlite3* connection, const JobFilter& filter);

    // Up to `count` candidates below `before`; fewer only when there are no more.
    std::vector<JobId> next(JobId before, int count);

  private:
    const JobFilter& filter_;
    Statement statement_;
};

}  // namespace sluice::sqlite
