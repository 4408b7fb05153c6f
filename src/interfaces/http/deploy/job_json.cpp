#include "interfaces/http/deploy/job_json.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "application/deploy/deploy_jobs.hpp"
#include "application/toolkit/phase.hpp"
#include "json/json_reader.hpp"
#include "json/json_values.hpp"

namespace sluice::http::deploy {
namespace {

using sluice::deploy::NodeHealth;

// The message of a failure without one.
constexpr std::string_view failed_somehow = "任务失败";

// The payload's members; nothing when it is no object, which only jobs of other contracts are.
std::optional<Attributes> members_of(std::string_view payload) {
    Attributes members;
    JsonReader reader(payload);
    reader.object([&](std::string_view key) { members.emplace(key, reader.raw()); });
    if (!reader.finish()) return std::nullopt;
    return members;
}

// The payload as it came, until a runner has claimed the job. From then on it describes the run.
std::string shown_payload(const Job& job, const SecretMarks& secrets) {
    std::string buffer;
    std::string payload(secrets.shown(job.spec, buffer));
    if (job.now.attempt == 0) return payload;
    auto members = members_of(payload);
    if (!members) return payload;
    (*members)["attempt"] = std::to_string(job.now.attempt);
    if (job.now.started_at)
        (*members)["runStartedAt"] =
            std::to_string(to_millis(job.now.started_at->time_since_epoch()));
    if (!job.now.message.empty()) {
        const auto phase = phase_in(job.now.message);
        (*members)["phase"] = json_string(phase.name);
        (*members)["phaseMessage"] = phase.message.empty() ? "null" : json_string(phase.message);
    }
    return to_json(*members);
}

std::optional<std::string> deploy_url(const Job& job, const RuntimeNode& node) {
    const std::string app = sluice::deploy::app_of(job);
    if (node.gateway_base_url.empty() || app.empty()) return std::nullopt;
    std::string path = text_of(json_members(job.spec->payload), "basePath").value_or("");
    if (path.empty()) path = "/apps/" + app;
    if (!path.starts_with('/')) path.insert(0, 1, '/');
    return fmt::format("{}{}/", without_slashes_at_the_end(node.gateway_base_url),
                       without_slashes_at_the_end(path));
}

std::string_view health_text(NodeHealth health) {
    switch (health) {
        case NodeHealth::healthy: return "HEALTHY";
        case NodeHealth::stale: return "STALE";
        case NodeHealth::draining: return "DRAINING";
        case NodeHealth::unhealthy: return "UNHEALTHY";
    }
    return "UNHEALTHY";
}

void write_node_of_job(JsonWriter& json, const RuntimeNode& node, const Showing& showing) {
    json.begin_object();
    json.object("id", [&] { json.field("value", node.id); });
    write_node_members(json, node, showing);
    json.end_object();
}

std::optional<std::string_view> shown_error(const Job& job) {
    if (!job.now.error_message.empty()) return job.now.error_message;
    if (status_of(job.now.state) == "FAILED") return failed_somehow;
    return std::nullopt;
}

// The time of the last event of the job, heartbeats included.
Timestamp updated_at(const Job& job) {
    if (job.now.completed_at) return *job.now.completed_at;
    if (job.lease) return std::max(job.lease->since, job.lease->until - job.lease->term);
    return std::max(job.spec->created_at, job.now.run_after);
}

void write_job(JsonWriter& json, const Job& job, const std::optional<RuntimeNode>& node,
               const Showing& showing) {
    const Lease* lease = job.now.state == JobState::running && job.lease ? &*job.lease : nullptr;
    json.begin_object();
    json.field("id", job.spec->id);
    json.field("type", job.spec->type);
    json.field("status", status_of(job.now.state));
    json.raw_field("payload", shown_payload(job, showing.secrets));
    json.field("errorMessage", shown_error(job));
    json.field("runnerId", lease ? std::optional(lease->worker_id) : std::nullopt);
    json.field("leaseExpireAt", lease ? std::optional(lease->until) : std::nullopt);
    json.key("runtimeNode");
    if (node) {
        write_node_of_job(json, *node, showing);
    } else {
        json.value(nullptr);
    }
    json.field("deployUrl", node ? deploy_url(job, *node) : std::nullopt);
    json.raw_field("result", job.now.result.empty() ? "null" : job.now.result);
    json.field("createdAt", job.spec->created_at);
    json.field("updatedAt", updated_at(job));
    json.end_object();
}

}  // namespace

std::string_view without_slashes_at_the_end(std::string_view text) {
    while (text.ends_with('/')) text.remove_suffix(1);
    return text;
}

std::string_view status_of(JobState state) {
    switch (state) {
        case JobState::queued: return "PENDING";
        case JobState::running: return "RUNNING";
        case JobState::succeeded: return "SUCCEEDED";
        case JobState::failed: return "FAILED";
        case JobState::canceled: return "CANCELLED";
        case JobState::timed_out: return "FAILED";
    }
    return "FAILED";
}

std::vector<JobState> states_of(std::string_view status) {
    std::vector<JobState> states;
    for (const JobState state : {JobState::queued, JobState::running, JobState::succeeded,
                                 JobState::failed, JobState::canceled, JobState::timed_out}) {
        if (status_of(state) == status) states.push_back(state);
    }
    return states;
}

void write_node_members(JsonWriter& json, const RuntimeNode& node, const Showing& showing) {
    json.field("nodeId", node.id);
    json.field("name", node.name);
    json.field("agentBaseUrl", node.agent_base_url);
    json.field("gatewayBaseUrl", node.gateway_base_url);
    json.field("enabled", node.enabled);
    json.field("weight", node.weight);
    json.field("health", health_text(node.health(showing.now, showing.node_memory)));
    json.field("lastHeartbeatAt", node.last_heartbeat_at);
    json.raw_field("diskFreePct",
                   node.disk_free_pct ? fmt::format("{}", *node.disk_free_pct) : "null");
    json.field("diskFreeBytes", node.disk_free_bytes);
    json.field("containerCount", node.container_count);
}

std::string job_text(const Job& job, const std::optional<RuntimeNode>& node,
                     const Showing& showing) {
    return json_text([&](JsonWriter& json) { write_job(json, job, node, showing); });
}

}  // namespace sluice::http::deploy
