#pragma once

#include <string>

#include "application/deploy/deploy_jobs.hpp"
#include "application/deploy/placements.hpp"
#include "application/ports/commands.hpp"
#include "interfaces/http/deploy/job_json.hpp"
#include "interfaces/http/message/url.hpp"
#include "interfaces/http/toolkit/app.hpp"

// The requests of callers. Fields that are not known are refused by name; null counts as not given.
namespace sluice::http::deploy {

// A job of a type that is known, with the settings about lost and long jobs.
Result<NewJob> read_create(const Call& call);

struct ClaimRequest {
    ClaimJobs claim{};
    Duration wait{};
};
Result<ClaimRequest> read_claim(const Call& call);

// By the runner's name.
Result<Heartbeat> read_heartbeat(const Call& call);
Result<Report> read_report(const Call& call);

// The reason of a cancel; empty: none was given.
Result<std::string> read_cancel_reason(const Call& call);

// The state that a job is to be put in: one that ends it.
struct Transition {
    JobState state{};
    std::string error_message{};
};
Result<Transition> read_transition(const Call& call);

// A request about an app, with its user.
struct AppRequest {
    std::string app_id{};
    std::string app_json{};  // each as it was sent: a text or a number
    std::string user_json{};
};
Result<AppRequest> read_app_request(const Call& call);

// Nodes send nodeName and their measurements, admins name, enabled and weight.
Result<sluice::deploy::NodeUpdate> read_node_heartbeat(const Call& call);
Result<sluice::deploy::NodeUpdate> read_node(const Call& call);

struct Reassignment {
    std::string app_id{};
    std::string target{};
};
Result<Reassignment> read_reassignment(const Call& call);
Result<sluice::deploy::Drain> read_drain(const Call& call);

// A list's limit: a number out of range counts as the nearest one within it.
inline constexpr int list_max = 200;
inline constexpr int usual_limit = 50;
Result<int> read_limit(const QueryParams& params, int otherwise);

}  // namespace sluice::http::deploy
