#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "application/deploy/runtime_nodes.hpp"
#include "application/secret_marks.hpp"
#include "domain/job.hpp"

// Jobs as this contract shows them.
namespace sluice::http::deploy {

using sluice::deploy::RuntimeNode;
using sluice::deploy::to_node;

// PENDING, RUNNING, SUCCEEDED, FAILED, CANCELLED.
std::string_view status_of(JobState state);
// All states that the status stands for; none when it is none.
std::vector<JobState> states_of(std::string_view status);

// What a runner said in its heartbeats. It is kept as the job's message, "BUILD: compiling", which
// is also what people see elsewhere, and shown in the payload.
struct Phase {
    std::string name{};
    std::string message{};
};
Phase phase_of(const Job& job);
std::string to_text(const Phase& phase);

// `node` is where the job's app is, if it is anywhere. What is secret in the payload is not shown.
std::string job_text(const Job& job, const std::optional<RuntimeNode>& node,
                     const SecretMarks& secrets);
std::string jobs_text(std::span<const Job> jobs, std::span<const std::optional<RuntimeNode>> nodes,
                      const SecretMarks& secrets);

}  // namespace sluice::http::deploy
