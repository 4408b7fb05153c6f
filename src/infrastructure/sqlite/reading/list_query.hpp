#pragma once

#include <string>
#include <vector>

#include "application/ports/job_reader.hpp"
#include "infrastructure/sqlite/database/statement.hpp"

namespace sluice::sqlite {

// The SQL texts for a filter, put together from the fixed pieces in queries.hpp.
std::string list_sql(const JobFilter& filter);
std::string page_sql(const JobFilter& filter);
std::string count_sql(const JobFilter& filter);

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

// The jobs that such a filter accepts: their ids, newest first, without the first `offset` of them;
// and how many there are.
std::vector<JobId> page_ids(sqlite3* connection, const JobFilter& filter, std::int64_t offset,
                            int limit);
std::int64_t count_jobs(sqlite3* connection, const JobFilter& filter);

}  // namespace sluice::sqlite
