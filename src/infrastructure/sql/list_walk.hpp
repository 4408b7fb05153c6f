#pragma once

#include <utility>
#include <vector>

#include "application/ports/job_reader.hpp"

// Pages and counts of lists that a database cannot tell exactly: the jobs are checked one by one.
// `list(before, limit)` is JobReader::list with the filter in question.
namespace sluice {

// Calls use(job) for each job, newest first, until it returns false.
template <class List, class Use>
void walk_list(List&& list, Use&& use) {
    const ListLimit step(1000, 4 * 1024 * 1024);
    JobId before = newest;
    for (bool more = true; more;) {
        ListCount count(step);
        for (Job& job : list(before, step)) {
            before = job.spec->id;
            count.add(job);
            if (!use(std::move(job))) return;
        }
        more = count.is_full();
    }
}

template <class List>
std::vector<Job> page_by_walking(List&& list, std::int64_t offset, int limit) {
    std::vector<Job> page;
    if (limit <= 0) return page;
    walk_list(list, [&](Job&& job) {
        if (offset-- <= 0) page.push_back(std::move(job));
        return std::ssize(page) < limit;
    });
    return page;
}

template <class List>
std::int64_t count_by_walking(List&& list) {
    std::int64_t count = 0;
    walk_list(list, [&](Job&&) { return ++count > 0; });
    return count;
}

}  // namespace sluice
