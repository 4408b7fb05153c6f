#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "application/deploy/placements.hpp"
#include "application/secrets/secret_marks.hpp"
#include "domain/jobs/job.hpp"
#include "json/json_writer.hpp"

// Jobs and runtime nodes as this contract shows them.
namespace sluice::http::deploy {

using sluice::deploy::RuntimeNode;
using sluice::deploy::to_node;

// PENDING, RUNNING, SUCCEEDED, FAILED, CANCELLED.
// Of base URLs of agents and gateways, to which a path is added.
std::string_view without_slashes_at_the_end(std::string_view url);

std::string_view status_of(JobState state);
// All states that the status stands for; none when it is none.
std::vector<JobState> states_of(std::string_view status);

// The settings by which a job or a node is shown.
struct Showing {
    const SecretMarks& secrets;  // of the secrets in payloads, which are not shown
    Timestamp now{};
    Duration node_memory{};
};

// `node` is where the job's app is, if it is anywhere.
std::string job_text(const Job& job, const std::optional<RuntimeNode>& node,
                     const Showing& showing);

// The members of a node, within an object.
void write_node_members(JsonWriter& json, const RuntimeNode& node, const Showing& showing);

}  // namespace sluice::http::deploy
