#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "interfaces/http/requests/job_filter.hpp"
#include "interfaces/http/toolkit/store_answer.hpp"

// Pages of jobs, in the format of any contract.
namespace sluice::http {

// The form in which a contract writes a list. All of it is called on readers' threads.
struct JobListFormat {
    std::string begin{};  // up to the first job

    // The text of each of these jobs.
    std::function<std::vector<std::string>(JobReader&, std::span<const Job>)> texts{};

    // From the last job on. `next` is the cursor of the page that follows, if one does.
    std::function<std::string(const std::optional<std::string>& next)> end{};

    std::string path{};  // of the list, for the link to the next page; empty: without a link
};

// The format of lists that are objects with these names for their parts.
using JobText = std::function<std::string(const Job&)>;
JobListFormat job_list_format(std::string path, std::string_view next_name, JobText text);

// Reads one page, which ends before its limit when it would be larger than page_bytes. The first
// piece decides which jobs are in it; each is shown as it is when its piece is read, and one that
// was removed meanwhile is left out.
PieceQuestion job_list(JobListQuery query, JobListFormat format);

}  // namespace sluice::http
