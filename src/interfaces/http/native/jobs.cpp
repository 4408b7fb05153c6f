// Submit, cancel and replay.
#include <fmt/format.h>

#include <algorithm>

#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/job_json.hpp"
#include "interfaces/http/native/read_job.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/read_action.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::native {
namespace {

Result<JobSpec> make_spec(JobRequest& request, const Call& call, Timestamp now,
                          std::string_view prefix) {
    if (auto refusal =
            refuse_tenant(*call.caller, request.job.tenant, fmt::format("{}/tenant", prefix))) {
        return *std::move(refusal);
    }
    if (request.job.source.empty()) request.job.source = source_of(*call.caller);
    auto spec = make_job(std::move(request.job), call.app.rules.types, now);
    if (!spec && !spec.error().pointer.empty()) spec.error().pointer.insert(0, prefix);
    return spec;
}

Result<SubmitJobs> read_submit(const Call& call) {
    JsonReader reader = given_body_reader(call.request);
    JobRequest request = read_job(reader, call.caller->tenant, false);
    if (const auto done = reader.finish(); !done) return done.error();
    auto spec = make_spec(request, call, call.app.clock.now(), "");
    if (!spec) return spec.error();
    SubmitJobs command;
    command.jobs.push_back(*std::move(spec));
    return command;
}

std::optional<Error> check_siblings(const std::vector<JobRequest>& requests, std::size_t i) {
    if (requests[i].siblings.size() + requests[i].job.depends_on.size() > limits::dependencies) {
        return Error{ErrorCode::too_large,
                     fmt::format("has more than {} entries", limits::dependencies),
                     fmt::format("/jobs/{}/depends_on", i)};
    }
    for (const std::size_t index : requests[i].siblings) {
        if (index < requests.size() && index != i) continue;
        return Error{ErrorCode::invalid,
                     index == i ? "a job cannot depend on itself"
                                : fmt::format("this batch has no job at place {}", index),
                     fmt::format("/jobs/{}/depends_on", i)};
    }
    return std::nullopt;
}

Result<std::vector<JobRequest>> read_requests(const Call& call) {
    std::vector<JobRequest> requests;
    JsonReader reader = given_body_reader(call.request);
    UnknownFields unknown;
    reader.object([&](std::string_view key) {
        if (key != "jobs") return unknown.add(key);
        reader.array([&](std::size_t) {
            if (requests.size() == limits::batch_jobs) {
                return reader.fail(fmt::format("a batch has at most {} jobs", limits::batch_jobs),
                                   ErrorCode::too_large);
            }
            requests.push_back(read_job(reader, call.caller->tenant, true));
        });
    });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return done.error();
    if (requests.empty()) return Error{ErrorCode::invalid, "needs at least one job", "/jobs"};
    return requests;
}

Result<SubmitJobs> read_submit_batch(const Call& call) {
    auto requests = read_requests(call);
    if (!requests) return requests.error();
    const Timestamp now = call.app.clock.now();
    SubmitJobs command;
    command.is_batch = true;
    command.jobs.reserve(requests->size());
    bool has_siblings = false;
    for (std::size_t i = 0; i < requests->size(); ++i) {
        if (auto refusal = check_siblings(*requests, i)) return *std::move(refusal);
        auto spec = make_spec((*requests)[i], call, now, fmt::format("/jobs/{}", i));
        if (!spec) return spec.error();
        if (spec->tenant != (i == 0 ? spec->tenant : command.jobs.front().tenant)) {
            return Error{ErrorCode::invalid, "all jobs of a batch must have the same tenant",
                         fmt::format("/jobs/{}/tenant", i)};
        }
        std::vector<std::size_t>& siblings = (*requests)[i].siblings;
        std::sort(siblings.begin(), siblings.end());
        siblings.erase(std::unique(siblings.begin(), siblings.end()), siblings.end());
        has_siblings |= !siblings.empty();
        command.siblings.push_back(std::move(siblings));
        command.jobs.push_back(*std::move(spec));
    }
    if (!has_siblings) command.siblings.clear();
    return command;
}

Response accepted_response(const Submitted& submitted, bool is_batch, const App& app) {
    const SecretMarks& secrets = app.rules.secrets;
    Response response;
    response.status = 202;
    if (is_batch) {
        response.body = json_object_text([&](JsonWriter& json) {
            json.array("jobs", submitted.jobs,
                       [&](const Job& job) { write_job(json, job, secrets, planned_start(job)); });
        });
    } else {
        const Job& job = submitted.jobs.front();
        response.body = job_text(job, secrets, planned_start(job));
        response.headers.emplace_back("Location",
                                      "/api/v1/jobs/" + to_text(submitted.jobs.front().spec->id));
    }
    if (submitted.repeated) response.headers.emplace_back("Idempotent-Replayed", "true");
    return response;
}

void submit(Call call, Result<SubmitJobs> command) {
    const std::string& request_id = call.request.request_id;
    if (!command) return send_refusal(call, command.error());
    auto key = idempotency_key(call.request);
    if (!key) return send_refusal(call, key.error());
    command->actor = actor_name(*call.caller);
    if (!key->empty()) {
        command->idempotency_key = *std::move(key);
        command->body_digest = body_digest(call.request);
    }
    const bool is_batch = command->is_batch;
    call.app.commands.post_one<SubmitJobs>(
        *std::move(command),
        [reply = call.reply, &request_id, is_batch, &app = call.app](Result<Submitted> submitted) {
            reply.send(submitted ? accepted_response(*submitted, is_batch, app)
                                 : problem_of(submitted.error(), request_id));
        });
}

// The job as it would be, and what happens to it.
std::string tried_release_text(const Job& job, const SecretMarks& secrets) {
    const bool is_over = is_final(job.now.state);
    std::string text = job_text(job, secrets);
    text.back() = ',';
    JsonWriter json(text);
    json.field("dry_run", true);
    json.object("effect", [&] {
        json.field("attempt_counts", true);
        json.field("attempts_left", is_over ? 0 : job.spec->max_attempts - job.now.attempt);
        json.field("then", to_text(job.now.state));
    });
    return text + "}";
}

template <class Command>
void act_on_job(Call call, Result<Command> command, int status) {
    const std::string& request_id = call.request.request_id;
    if (!command) return send_refusal(call, command.error());
    call.app.commands.post_one<Command>(*std::move(command), [reply = call.reply, &request_id,
                                                              status,
                                                              &app = call.app](Result<Job> job) {
        if (!job) return reply.send(problem_of(job.error(), request_id));
        Response response = json(status, job_text(*job, app.rules.secrets, planned_start(*job)));
        if (status == 202)
            response.headers.emplace_back("Location", "/api/v1/jobs/" + to_text(job->spec->id));
        reply.send(std::move(response));
    });
}

}  // namespace

void submit_job(Call call) {
    submit(call, read_submit(call));
}
void submit_batch(Call call) {
    submit(call, read_submit_batch(call));
}
void cancel(Call call) {
    act_on_job(call, read_cancel(call), 200);
}
void replay(Call call) {
    act_on_job(call, read_replay(call), 202);
}
void release_lease(Call call) {
    auto command = read_release_lease(call);
    if (!command || !command->dry_run) return act_on_job(call, std::move(command), 200);
    call.app.commands.post_one<ReleaseLease>(*std::move(command), [call](Result<Job> job) {
        if (!job) return send_refusal(call, job.error());
        call.reply.send(json(200, tried_release_text(*job, call.app.rules.secrets)));
    });
}

}  // namespace sluice::http::native
