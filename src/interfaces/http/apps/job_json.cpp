#include "interfaces/http/apps/job_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sluice::http::apps {
namespace {

constexpr auto all_states =
    std::to_array({JobState::queued, JobState::running, JobState::succeeded, JobState::failed,
                   JobState::canceled, JobState::timed_out});

constexpr auto job_types = std::to_array<std::string_view>({
    "msuite_submit",
    "msuite_merge",
    "msuite_deploy",
    "revalidate_queued_changeset",
    "release_assemble",
    "deploy_release",
    "runtime_profile_drift_check",
    "temp_env_provision",
    "temp_env_expire",
});

// A job that ran out of time counts as canceled here; its message says so.
std::string_view state_name(JobState state) {
    return to_text(state == JobState::timed_out ? JobState::canceled : state);
}

// Only of a job that has ended without success: a retry that waits has none.
std::optional<std::string_view> error_message(const Job& job) {
    if (job.now.state == JobState::timed_out) return "timeout exceeded";
    const bool is_lost = job.now.state == JobState::failed || job.now.state == JobState::canceled;
    if (!is_lost || job.now.error_message.empty()) return std::nullopt;
    return job.now.error_message;
}

// How often the job was sent back to the queue after an attempt.
int retry_count(const Job& job) {
    return job.now.state == JobState::queued ? job.now.attempt : std::max(job.now.attempt - 1, 0);
}

// 24 hex digits, as every id has: the job's number and the line's.
std::string line_id(const LogLine& line) {
    return fmt::format("{:016x}{:08x}", line.job.value, line.seq);
}

}  // namespace

void write_job(JsonWriter& json, const Job& job, const SecretMarks& secrets) {
    const JobSpec& spec = job.spec;
    json.begin_object();
    json.field("id", spec.id);
    json.field("app_id", spec.project);
    json.field("job_type", spec.type);
    json.field("state", state_name(job.now.state));
    json.field("entity_type", spec.entity_type);
    json.field("entity_id", spec.entity_id);
    std::string buffer;
    json.raw_field("payload", secrets.shown(spec, buffer));
    json.raw_field("result", job.now.result.empty() ? "null" : job.now.result);
    json.field("error_message", error_message(job));
    json.field("retry_count", retry_count(job));
    json.field("max_retries", spec.max_attempts - 1);
    json.field("timeout_ms", to_millis(spec.timeout));
    json.field("created_at", spec.created_at);
    json.field("started_at", job.now.started_at);
    json.field("completed_at", job.now.completed_at);
    json.end_object();
}

void write_log_line(JsonWriter& json, const LogLine& line) {
    json.begin_object();
    json.field("id", line_id(line));
    json.field("job_id", line.job);
    json.field("level", to_text(line.level));
    json.field("message", line.message);
    json.raw_field("data", line.data.empty() ? "null" : line.data);
    json.field("timestamp", line.at);
    json.end_object();
}

std::vector<JobState> states_shown_as(std::string_view name) {
    std::vector<JobState> states;
    for (const JobState state : all_states) {
        if (state_name(state) == name) states.push_back(state);
    }
    return states;
}

bool is_job_type(std::string_view type) {
    return std::find(job_types.begin(), job_types.end(), type) != job_types.end();
}

}  // namespace sluice::http::apps
