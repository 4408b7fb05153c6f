#pragma once

#include <string>

#include "application/ports/job_reader.hpp"
#include "application/secret_marks.hpp"
#include "interfaces/http/app.hpp"
#include "interfaces/http/url.hpp"

namespace sluice::http::native {

// What a request for a list of jobs asks for.
struct JobListQuery {
    JobFilter filter;
    JobId before = newest;
    int limit = 50;
    std::string filter_mark;   // binds a cursor to the filters that it was made with
    std::string filter_query;  // the filters as a query string, for the link to the next page
};

Result<JobListQuery> read_job_list(const Call& call);

// Adds what lists of every contract have in common, limit and cursor, to a query whose filters were
// read from these parameters.
Result<JobListQuery> with_page(JobListQuery query, const QueryParams& params);

struct JobPage {
    std::vector<Job> jobs;
    bool more = false;  // another page may follow
};

// Reads one page. One of large payloads ends before its limit.
JobPage read_job_page(JobReader& reader, const JobListQuery& query);

// What to pass as `cursor` to get the page that follows; nothing when there is none.
std::optional<std::string> cursor_after(const JobListQuery& query, const JobPage& page);

// The value of the Link header to that page; `path` is that of the list.
std::string link_to_next(std::string_view path, const JobListQuery& query, std::string_view cursor);

Response job_list_response(const JobListQuery& query, const JobPage& page,
                           const SecretMarks& secrets);

}  // namespace sluice::http::native
