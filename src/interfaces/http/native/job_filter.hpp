#pragma once

#include <string>

#include "application/ports/job_reader.hpp"
#include "interfaces/http/message.hpp"

namespace sluice::http::native {

// What a request for a list of jobs asks for.
struct JobListQuery {
    JobFilter filter;
    JobId before = newest;
    int limit = 50;
    std::string filter_mark;   // binds a cursor to the filters that it was made with
    std::string filter_query;  // the filters as a query string, for the link to the next page
};

Result<JobListQuery> read_job_list(const Request& request);

// `jobs` has one more than the limit when there is a next page.
Response job_list_response(const JobListQuery& query, std::vector<Job> jobs);

}  // namespace sluice::http::native
