#include "domain/jobs/job.hpp"

#include <fmt/format.h>

namespace sluice {

std::string_view to_text(OnDependencyFailure choice) {
    return choice == OnDependencyFailure::run ? "run" : "cancel";
}

std::optional<OnDependencyFailure> parse_on_dependency_failure(std::string_view text) {
    for (const auto choice : {OnDependencyFailure::cancel, OnDependencyFailure::run}) {
        if (to_text(choice) == text) return choice;
    }
    return std::nullopt;
}

std::vector<std::string> held_keys(const JobSpec& spec) {
    std::vector<std::string> keys;
    keys.reserve(spec.exclusive_keys.size() + 2);
    if (!spec.site_id.empty()) keys.push_back("site_id=" + spec.site_id);
    if (!spec.node_id.empty()) keys.push_back("node_id=" + spec.node_id);
    for (const std::string& key : spec.exclusive_keys) keys.push_back("key=" + key);
    return keys;
}

const JobSpec& SharedSpec::none() {
    static const JobSpec spec;
    return spec;
}

void Standing::apply_worker_update(const Standing& said) {
    progress = said.progress;
    message = said.message;
    log_seq = said.log_seq;
    log_hash = said.log_hash;
    head = said.head;
}

Result<JobState> Job::apply(Step step) {
    const std::optional<JobState> next = next_state(now.state, step);
    if (!next) {
        return Error{
            ErrorCode::conflict,
            fmt::format("the job is {}, so it cannot be {}", to_text(now.state), to_text(step)),
            ""};
    }
    now.state = *next;
    return now.state;
}

Timestamp Job::deadline() const {
    if (now.state != JobState::running || !now.started_at || spec->timeout == Duration{0}) {
        return never;
    }
    return *now.started_at + spec->timeout;
}

Job accepted(JobSpec spec) {
    Job job;
    job.now.run_after = spec.run_after;
    job.spec = std::move(spec);
    return job;
}

}  // namespace sluice
