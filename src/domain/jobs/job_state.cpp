#include "domain/jobs/job_state.hpp"

namespace sluice {

std::string_view to_text(JobState state) {
    switch (state) {
        case JobState::queued: return "queued";
        case JobState::running: return "running";
        case JobState::succeeded: return "succeeded";
        case JobState::failed: return "failed";
        case JobState::canceled: return "canceled";
        case JobState::timed_out: return "timed_out";
    }
    return "";
}

std::string_view to_text(Step step) {
    switch (step) {
        case Step::submitted: return "submitted";
        case Step::claimed: return "claimed";
        case Step::succeeded: return "succeeded";
        case Step::failed: return "failed";
        case Step::retried: return "retried";
        case Step::lease_expired: return "lease_expired";
        case Step::handed_back: return "handed_back";
        case Step::canceled: return "canceled";
        case Step::timed_out: return "timed_out";
        case Step::lease_closed: return "lease_closed";
    }
    return "";
}

std::optional<JobState> parse_job_state(std::string_view text) {
    for (int i = 0; i <= static_cast<int>(JobState::timed_out); ++i) {
        if (to_text(static_cast<JobState>(i)) == text) return static_cast<JobState>(i);
    }
    return std::nullopt;
}

}  // namespace sluice
