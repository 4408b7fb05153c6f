#include "interfaces/http/deploy/read_requests.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interfaces/http/deploy/body_fields.hpp"
#include "interfaces/http/deploy/job_answers.hpp"
#include "interfaces/http/deploy/plane.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/read_lease.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "json/json_values.hpp"

namespace sluice::http::deploy {
namespace {

using namespace std::chrono_literals;
using sluice::deploy::Drain;
using sluice::deploy::NewDeployJob;
using sluice::deploy::NodeUpdate;

constexpr Duration usual_lease = 30s;
constexpr std::size_t phase_bytes = 100;
constexpr std::size_t phase_message_bytes = 1000;
constexpr std::size_t error_message_bytes = 16 * 1024;
constexpr std::size_t reason_bytes = 2000;
constexpr std::int64_t weight_max = 1'000'000;
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

// A job's state by its name in this contract.
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

int read_attempt(JsonReader& reader) {
    return static_cast<int>(reader.integer(1, INT32_MAX));
}

// A runner knows only its own name, which stands for the lease that the runner got last.
template <class Said>
std::optional<Error> speak_as(Said& said, ByWorker runner, const Call& call) {
    if (runner.worker_id.empty()) return missing("runnerId", who_runs);
    const auto id = job_id_in_path(call);
    if (!id) return id.error();
    said.lease.job = *id;
    said.bounds = bounds_of(*call.caller);
    said.bounds.tenant = EntityKey{}.tenant;
    said.bounds.queue = sluice::deploy::queue;
    said.by_worker = std::move(runner);
    return std::nullopt;
}

Result<NodeUpdate> read_node_update(const Request& request, std::string_view name_field,
                                    bool by_admin) {
    NodeUpdate update;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == name_field) {
            update.name = read_name(reader);
        } else if (key == "agentBaseUrl") {
            update.agent_base_url = read_address(reader);
        } else if (key == "gatewayBaseUrl") {
            update.gateway_base_url = read_address(reader);
        } else if (by_admin && key == "enabled") {
            update.enabled = reader.boolean();
        } else if (by_admin && key == "weight") {
            update.weight = reader.integer(0, weight_max);
        } else if (!by_admin && key == "diskFreePct") {
            update.disk_free_pct = read_real(reader);
        } else if (!by_admin && key == "diskFreeBytes") {
            update.disk_free_bytes = reader.integer();
        } else if (!by_admin && key == "containerCount") {
            update.container_count = reader.integer();
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(request, read); !done) return done.error();
    if (update.name.empty()) return missing(name_field, "it says which node this is");
    return update;
}

}  // namespace

Result<NewJob> read_create(const Call& call) {
    auto wanted = read_new_job(call.request);
    if (!wanted) return wanted.error();
    if (wanted->type.empty()) return missing("type", "say what kind of job this is");
    if (!call.app.rules.types.all().contains(wanted->type)) {
        return refuse("type", fmt::format("\"{}\" is not a known job type", wanted->type));
    }
    const Settings& settings = call.app.part<Plane>().settings;
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
            request.wait = read_seconds(reader, 0, wait_max);
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    if (claim.worker_id.empty()) return missing("runnerId", who_runs);
    return request;
}

Result<Heartbeat> read_heartbeat(const Call& call) {
    Heartbeat said{.term = std::min(usual_lease, call.app.max_lease)};
    ByWorker runner;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == "runnerId") {
            runner.worker_id = read_name(reader);
        } else if (key == "attempt") {
            runner.attempt = read_attempt(reader);
        } else if (key == "extendSeconds") {
            said.term = read_seconds(reader, 1, call.app.max_lease);
        } else if (key == "phase") {
            said.phase = read_tail(reader, phase_bytes);
        } else if (key == "phaseMessage") {
            said.message = read_tail(reader, phase_message_bytes);
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    if (const auto refusal = speak_as(said, std::move(runner), call)) return *refusal;
    return said;
}

Result<Report> read_report(const Call& call) {
    Report said;
    said.retryable = false;  // a runner's report is final
    ByWorker runner;
    std::string status;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == "runnerId") {
            runner.worker_id = read_name(reader);
        } else if (key == "attempt") {
            runner.attempt = read_attempt(reader);
        } else if (key == "status") {
            status = reader.string();
        } else if (key == "errorMessage") {
            said.error_message = read_tail(reader, error_message_bytes);
        } else if (key == "result") {
            said.result = reader.raw();
            check_length(reader, said.result, limits::payload_bytes);
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    if (runner.worker_id.empty()) return missing("runnerId", who_runs);
    if (status.empty()) return missing("status", "SUCCEEDED, FAILED or CANCELLED");
    const auto end = read_end("status", status);
    if (!end) return end.error();
    said.outcome = outcome_of(*end);
    if (const auto refusal = speak_as(said, std::move(runner), call)) return *refusal;
    return said;
}

Result<std::string> read_cancel_reason(const Call& call) {
    std::string reason;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key != "reason") return false;
        reason = read_tail(reader, reason_bytes);
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    return reason;
}

Result<Transition> read_transition(const Call& call) {
    Transition wanted;
    std::string status;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == "toStatus") {
            status = reader.string();
        } else if (key == "errorMessage") {
            wanted.error_message = read_tail(reader, error_message_bytes);
        } else {
            return false;
        }
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    if (status.empty()) return missing("toStatus", "SUCCEEDED, FAILED or CANCELLED");
    const auto end = read_end("toStatus", status);
    if (!end) return end.error();
    wanted.state = *end;
    return wanted;
}

Result<AppRequest> read_app_request(const Call& call) {
    AppRequest request;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key != "appId" && key != "userId") return false;
        const bool is_number = reader.kind() == JsonReader::Kind::number;
        std::string id = read_app_id(reader);
        std::string json = is_number ? id : json_string(id);
        if (key == "userId") {
            request.user_json = std::move(json);
        } else {
            request.app_json = std::move(json);
            request.app_id = std::move(id);
        }
        return true;
    };
    if (const auto done = read_body(call.request, read); !done) return done.error();
    if (request.user_json.empty()) return missing("userId", "say for whom");
    if (request.app_id.empty()) return missing("appId", "say which app");
    return request;
}

Result<NodeUpdate> read_node_heartbeat(const Call& call) {
    return read_node_update(call.request, "nodeName", false);
}

Result<NodeUpdate> read_node(const Call& call) {
    return read_node_update(call.request, "name", true);
}

Result<Reassignment> read_reassignment(const Call& call) {
    Reassignment wanted;
    const auto read = [&](JsonReader& reader, std::string_view key) {
        if (key == "appId") {
            wanted.app_id = read_app_id(reader);
        } else if (key == "targetNodeId") {
            wanted.target = read_node_name(reader);
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
            drain.source = read_node_name(reader);
        } else if (key == "targetNodeId") {
            drain.target = read_node_name(reader);
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
    return drain;
}

Result<int> read_limit(const QueryParams& params, int otherwise) {
    const auto limit = number_param(params, "limit", INT64_MIN, INT64_MAX, otherwise);
    if (!limit) return Error{ErrorCode::malformed, "limit must be a whole number", ""};
    return static_cast<int>(std::clamp<std::int64_t>(*limit, 1, list_max));
}

}  // namespace sluice::http::deploy
