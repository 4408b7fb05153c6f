#include "application/ports/job_reader.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool matches(const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
}

template <class List>
bool contains(const List& list, const typename List::value_type& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

std::size_t text_bytes(const Job& job) {
    return job.spec->payload.size() + job.now.result.size() + job.now.message.size() +
           job.now.error_message.size();
}

bool JobFilter::accepts(const Job& job) const {
    const JobSpec& spec = job.spec;
    return matches(tenant, spec.tenant) && (states.empty() || contains(states, job.now.state)) &&
           matches(type, spec.type) && matches(queue, spec.queue) &&
           matches(project, spec.project) && matches(entity_type, spec.entity_type) &&
           matches(entity_id, spec.entity_id) && matches(site_id, spec.site_id) &&
           matches(node_id, spec.node_id) && matches(correlation_id, spec.correlation_id) &&
           matches(source, spec.source) &&
           (worker_id.empty() || (job.lease && job.lease->worker_id == worker_id)) &&
           (label.empty() || contains(spec.labels, label)) &&
           (!created_from || spec.created_at >= *created_from) &&
           (!created_before || spec.created_at < *created_before) &&
           (!replay_of || spec.replay_of == replay_of) && spec.id >= from;
}

std::vector<std::optional<Job>> JobReader::newest_of(std::span<const JobFilter> filters) {
    std::vector<std::optional<Job>> found;
    for (const JobFilter& filter : filters) {
        std::vector<Job> jobs = list(filter, newest, ListLimit(1, 1));
        found.push_back(jobs.empty() ? std::nullopt : std::optional(std::move(jobs.front())));
    }
    return found;
}

std::vector<std::vector<Event>> JobReader::events_of(std::span<const EventsAfter> wanted,
                                                     int limit) {
    std::vector<std::vector<Event>> found;
    for (const EventsAfter& each : wanted) found.push_back(events(each.job, each.after, limit));
    return found;
}

}  // namespace sluice
