#pragma once

#include <optional>
#include <string>

#include "application/commands.hpp"
#include "application/deploy/deploy_jobs.hpp"
#include "application/deploy/placements.hpp"
#include "interfaces/http/app.hpp"
#include "interfaces/http/deploy/job_json.hpp"
#include "interfaces/http/url.hpp"

// What callers send. Fields that are not known are refused by name; null counts as not given.
namespace sluice::http::deploy {

// A job of a type that is known, with what the configuration says about lost and long ones.
Result<NewJob> read_create(const Call& call);

struct ClaimRequest {
    ClaimJobs claim{};
    Duration wait{};
};
Result<ClaimRequest> read_claim(const Call& call);

// By the runner's name.
Result<Heartbeat> read_heartbeat(const Call& call);
Result<Report> read_report(const Call& call);

// Why a job is canceled; empty: nobody said.
Result<std::string> read_cancel(const Call& call);

// The state that a job is to be put in: one that ends it.
struct Transition {
    JobState state{};
    std::string error_message{};
};
Result<Transition> read_transition(const Call& call);

// What is to be done about an app, and for whom.
struct AppRequest {
    std::string app_id{};
    std::string app_json{};  // each as it was sent: a text or a number
    std::string user_json{};
};
Result<AppRequest> read_app_request(const Call& call);

// Nodes say nodeName and what they have measured, admins name, enabled and weight.
Result<sluice::deploy::NodeWords> read_node_heartbeat(const Call& call);
Result<sluice::deploy::NodeWords> read_node(const Call& call);

struct Reassignment {
    std::string app_id{};
    std::string target{};
};
Result<Reassignment> read_reassignment(const Call& call);
Result<sluice::deploy::Drain> read_drain(const Call& call);

// A list's limit: what is out of range counts as the nearest that is not.
inline constexpr int list_max = 200;
Result<int> read_limit(const QueryParams& params, int otherwise);

}  // namespace sluice::http::deploy
