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

struct JobPage {
    std::vector<Job> jobs;
    bool more = false;  // another page may follow
};

// Reads one page. One of large payloads ends before its limit.
JobPage read_job_page(JobReader& reader, const JobListQuery& query);

Response job_list_response(const JobListQuery& query, const JobPage& page);

}  // namespace sluice::http::native
