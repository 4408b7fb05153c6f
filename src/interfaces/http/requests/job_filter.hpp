#pragma once

#include <string>

#include "application/ports/job_reader.hpp"
#include "interfaces/http/message/url.hpp"
#include "interfaces/http/toolkit/app.hpp"

namespace sluice::http {

// The contents of a request for a list of jobs.
struct JobListQuery {
    JobFilter filter;
    JobId before = newest;
    int limit = 50;
    std::string filter_mark;   // binds a cursor to the filters that it was made with
    std::string filter_query;  // the filters as a query string, for the link to the next page
};

Result<JobListQuery> read_job_list(const Call& call);

// Adds the parts that lists of every contract have in common, limit and cursor, to a query whose
// filters were read from these parameters.
Result<JobListQuery> with_page(JobListQuery query, const QueryParams& params);

// The `cursor` of the page that follows one with this last job.
std::string cursor_after(const JobListQuery& query, JobId last);

// The value of the Link header to that page; `path` is that of the list.
std::string link_to_next(std::string_view path, const JobListQuery& query, std::string_view cursor);

}  // namespace sluice::http
