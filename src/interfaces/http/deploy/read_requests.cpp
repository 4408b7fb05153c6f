#include "interfaces/http/deploy/read_requests.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interfaces/http/deploy/body_fields.hpp"
#include "interfaces/http/native/read_lease.hpp"

namespace sluice::http::deploy {
namespace {

using namespace std::chrono_literals;
using sluice::deploy::Drain;
using sluice::deploy::NewDeployJob;
using sluice::deploy::NodeWords;

constexpr Duration usual_lease = 30s;
constexpr std::size_t phase_bytes = 100;
constexpr std::size_t phase_message_bytes = 1000;
constexpr std::size_t error_message_bytes = 16 * 1024;
constexpr std::size_t reason_bytes = 2000;
constexpr const char* who_runs = "it says which runner this is";

// The app that a payload names, if it does. The payload must be an object without repeated names.
Result<std::string> app_in(std::string_view payload) {
    std::string app_id;
    JsonReader reader(payload);
    reader.object([&](std::string_view key) {
        if (key == "appId" && !reader.null()) app_id = read_app_id(reader);
    });
    if (const auto done = reader.finish(); !done) return done.error();
    return app_id;
}

Result<NewDeployJob> read_new_job(const Request& request) {
    NewDeployJob job;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == "type") {
            job.type = read_name(reader);
        } else if (key == "payload") {
            job.payload = reader.raw();
            auto app_id = app_in(job.payload);
            if (!app_id) {
                reader.fail_within(app_id.error());
            } else {
                job.app_id = *std::move(app_id);
            }
        } else if (key == "labels") {
            job.labels = read_names(reader);
        } else if (key == "priority") {
            job.priority = static_cast<int>(reader.integer(-limits::priority, limits::priority));
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(request, read); !done) return done.error();
    return job;
}

// A job's state by this contract's word for it.
Result<JobState> read_status(std::string_view field, std::string_view text) {
    const auto states = states_of(text);
    if (!states.empty()) return states.front();
    return refuse(field, fmt::format("\"{}\" is not a status; statuses are PENDING, RUNNING, "
                                     "SUCCEEDED, FAILED, CANCELLED",
                                     text));
}

// The same for one that ends a job.
Result<JobState> read_end(std::string_view field, std::string_view text) {
    const auto state = read_status(field, text);
    if (!state || is_final(*state)) return state;
    return Error{
        ErrorCode::conflict,
        fmt::format("a job cannot be put in {}: only a claim leads to RUNNING, and nothing "
                    "leads back to PENDING",
                    text),
        ""};
}

Outcome outcome_of(JobState state) {
    if (state == JobState::succeeded) return Outcome::succeeded;
    return state == JobState::canceled ? Outcome::canceled : Outcome::failed;
}

Result<NodeWords> read_words(const Request& request, std::string_view name_field, bool by_admin) {
    NodeWords words;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == name_field) {
            words.name = read_name(reader);
        } else if (key == "agentBaseUrl") {
            words.agent_base_url = read_address(reader);
        } else if (key == "gatewayBaseUrl") {
            words.gateway_base_url = read_address(reader);
        } else if (by_admin && key == "enabled") {
            words.enabled = reader.boolean();
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(request, read); !done) return done.error();
    if (words.name.empty()) return missing(name_field, "it says which node this is");
    return words;
}

}  // namespace

Result<NewJob> read_create(const Call& call) {
    auto wanted = read_new_job(call.request);
    if (!wanted) return wanted.error();
    if (wanted->type.empty()) return missing("type", "say what kind of job this is");
    if (!call.app.rules.types.all().contains(wanted->type)) {
        return refuse("type", fmt::format("\"{}\" is not a known job type", wanted->type));
    }
    const Settings& settings = call.app.deploy;
    if (settings.max_running > Duration{0}) wanted->timeout = settings.max_running;
    if (!settings.requeue_lost) wanted->max_attempts = 1;
    NewJob job = make_deploy_job(*std::move(wanted));
    const auto spec = make_job(job, call.app.rules.types, call.app.clock.now());
    if (!spec) return spec.error();
    return job;
}

Result<ClaimRequest> read_claim(const Call& call) {
    ClaimRequest request;
    ClaimJobs& claim = request.claim;
    claim.filter.queues = {sluice::deploy::queue};
    claim.term = std::min(usual_lease, call.app.max_lease);
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == "runnerId") {
            claim.worker_id = read_name(reader);
        } else if (key == "leaseSeconds") {
            claim.term = read_seconds(reader, 1, call.app.max_lease);
        } else if (key == "types") {
            claim.filter.types = read_names(reader);
        } else if (key == "labels") {
            claim.filter.labels = read_names(reader);
        } else if (key == "waitSeconds") {
            request.wait = read_seconds(reader, 0, native::wait_max);
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    if (claim.worker_id.empty()) return missing("runnerId", who_runs);
    return request;
}

Result<HeartbeatRequest> read_heartbeat(const Call& call) {
    HeartbeatRequest request{.extend = std::min(usual_lease, call.app.max_lease)};
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == "runnerId") {
            request.runner_id = read_name(reader);
        } else if (key == "extendSeconds") {
            request.extend = read_seconds(reader, 1, call.app.max_lease);
        } else if (key == "phase") {
            request.phase = read_tail(reader, phase_bytes);
            if (request.phase->find(':') != std::string::npos) reader.fail("must not have a colon");
        } else if (key == "phaseMessage") {
            request.phase_message = read_tail(reader, phase_message_bytes);
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    if (request.runner_id.empty()) return missing("runnerId", who_runs);
    return request;
}

Result<ReportRequest> read_report(const Call& call) {
    ReportRequest request;
    request.report.retryable = false;  // a runner's word is the last one
    std::string status;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == "runnerId") {
            request.runner_id = read_name(reader);
        } else if (key == "status") {
            status = reader.string();
        } else if (key == "errorMessage") {
            request.report.error_message = read_tail(reader, error_message_bytes);
        } else if (key == "result") {
            request.report.result = reader.raw();
            if (request.report.result.size() > limits::payload_bytes) {
                reader.fail("is too long", ErrorCode::too_large);
            }
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    if (request.runner_id.empty()) return missing("runnerId", who_runs);
    if (status.empty()) return missing("status", "SUCCEEDED, FAILED or CANCELLED");
    const auto end = read_end("status", status);
    if (!end) return end.error();
    request.report.outcome = outcome_of(*end);
    return request;
}

Result<std::string> read_cancel(const Call& call) {
    std::string reason;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key != "reason") return false;
        reason = read_tail(reader, reason_bytes);
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    return reason;
}

Result<JobState> read_transition(const Call& call) {
    std::string status;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key != "toStatus") return false;
        status = reader.string();
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    if (status.empty()) return missing("toStatus", "SUCCEEDED, FAILED or CANCELLED");
    return read_end("toStatus", status);
}

Result<NodeWords> read_node_heartbeat(const Call& call) {
    return read_words(call.request, "nodeName", false);
}

Result<NodeWords> read_node(const Call& call) {
    return read_words(call.request, "name", true);
}

Result<Reassignment> read_reassignment(const Call& call) {
    Reassignment wanted;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == "appId") {
            wanted.app_id = read_app_id(reader);
        } else if (key == "targetNodeId") {
            wanted.target = read_name(reader);
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    if (wanted.app_id.empty()) return missing("appId", "say which app moves");
    if (wanted.target.empty()) return missing("targetNodeId", "say where it moves to");
    return wanted;
}

Result<Drain> read_drain(const Call& call) {
    Drain drain{.limit = list_max};
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == "sourceNodeId") {
            drain.source = read_name(reader);
        } else if (key == "targetNodeId") {
            drain.target = read_name(reader);
        } else if (key == "limit") {
            drain.limit = static_cast<int>(std::clamp<std::int64_t>(reader.integer(), 1, list_max));
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    if (drain.source.empty()) return missing("sourceNodeId", "say which node is drained");
    if (drain.target.empty()) return missing("targetNodeId", "say where its apps move to");
    if (drain.source == drain.target) return refuse("targetNodeId", "must be another node");
    return drain;
}

Result<int> read_limit(const QueryParams& params, int otherwise) {
    const auto limit = native::number_param(params, "limit", INT64_MIN, INT64_MAX, otherwise);
    if (!limit) return Error{ErrorCode::malformed, "limit must be a whole number", ""};
    return static_cast<int>(std::clamp<std::int64_t>(*limit, 1, list_max));
}

}  // namespace sluice::http::deploy
