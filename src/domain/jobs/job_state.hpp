#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace sluice {

enum class JobState { queued, running, succeeded, failed, canceled, timed_out };

// A step in the life of a job.
enum class Step {
    submitted,
    claimed,
    succeeded,
    failed,
    retried,        // an attempt failed and another one follows
    lease_expired,  // the worker went silent and another attempt follows
    handed_back,    // the worker gave the job back; the attempt does not count
    canceled,
    timed_out,
    lease_closed,  // the worker of an ended job has stopped, or its lease ran out; no change of
                   // state
};

struct Transition {
    JobState from;
    Step step;
    JobState to;
};

// The whole life of a job after it was submitted. A pair that is not listed here is refused.
// docs/job-lifecycle.md draws this table, and a test compares the two.
// clang-format off
inline constexpr auto transitions = std::to_array<Transition>({
    {JobState::queued,  Step::claimed,       JobState::running},
    {JobState::queued,  Step::canceled,      JobState::canceled},
    {JobState::running, Step::succeeded,     JobState::succeeded},
    {JobState::running, Step::failed,        JobState::failed},
    {JobState::running, Step::retried,       JobState::queued},
    {JobState::running, Step::lease_expired, JobState::queued},
    {JobState::running, Step::handed_back,   JobState::queued},
    {JobState::running, Step::canceled,      JobState::canceled},
    {JobState::running, Step::timed_out,     JobState::timed_out},
});
// clang-format on

constexpr std::optional<JobState> next_state(JobState from, Step step) {
    for (const Transition& row : transitions) {
        if (row.from == from && row.step == step) return row.to;
    }
    return std::nullopt;
}

constexpr bool is_final(JobState state) {
    return state != JobState::queued && state != JobState::running;
}

constexpr bool final_states_never_change() {
    for (const Transition& row : transitions) {
        if (is_final(row.from)) return false;
    }
    return true;
}
static_assert(final_states_never_change());
static_assert(!next_state(JobState::running, Step::claimed), "a job runs once at a time");
static_assert(!next_state(JobState::queued, Step::succeeded), "only what runs can succeed");

std::string_view to_text(JobState state);
std::string_view to_text(Step step);
std::optional<JobState> parse_job_state(std::string_view text);

}  // namespace sluice
