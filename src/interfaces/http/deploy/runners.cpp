// What runners say: claim, heartbeat, report. They know only their own name: it is good for the
// lease that it was given last, and that lease fences what they say.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "application/deploy/deploy_jobs.hpp"
#include "application/entity_desk.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/deploy/handlers.hpp"
#include "interfaces/http/deploy/job_answers.hpp"
#include "interfaces/http/deploy/read_requests.hpp"
#include "interfaces/http/front_door.hpp"
#include "json/json_writer.hpp"

namespace sluice::http::deploy {
namespace {

Error not_yours(const Job& job, const std::string& runner_id) {
    return {ErrorCode::conflict,
            fmt::format("the job is {} and not {}'s: stop working on it", status_of(job.state),
                        runner_id),
            ""};
}

void give_back(App& app, const Job& job, std::string reason) {
    app.commands.post_one<HandBack>(
        {.lease = {job.spec.id, job.lease->token}, .reason = std::move(reason)},
        [](const auto&) {});
}

// Puts the job's app on a node, unless it is on one, and answers the claim.
void answer_claim(const Call& call, const Job& job) {
    const auto decide = [app_id = sluice::deploy::app_of(job),
                         actor = worker_actor(job.lease->worker_id),
                         memory = call.app.deploy.node_health](EntityDesk& desk) {
        desk.act_as(actor);
        return sluice::deploy::place_app(desk, app_id, memory);
    };
    call.app.commands.post_one<EntityAction>(
        {decide}, [call, job](const Result<EntityAnswer>& placed) {
            if (!call.reply.is_open()) {
                return give_back(call.app, job, "the runner hung up before it got the job");
            }
            if (!placed) {
                give_back(call.app, job, "the runner could not be told where the app goes");
                return call.reply.send(refused(placed.error()));
            }
            std::optional<RuntimeNode> node;
            if (!placed->others.empty()) node = to_node(placed->others.front());
            // Who works on it needs all of it.
            call.reply.send(success(job_text(job, node, SecretMarks::none())));
        });
}

void answer_claim(const Call& call, const Result<Claimed>& claimed) {
    if (!claimed) return call.reply.send(refused(claimed.error()));
    if (claimed->empty()) return call.reply.send(success("null"));
    if (!call.app.access.is_still_good(*call.caller)) {
        give_back(call.app, claimed->front(), "the runner's token is good no more");
        return call.reply.send(unauthorized(call.request));
    }
    answer_claim(call, claimed->front());
}

// What the job's message is after the heartbeat; nothing when it stays as it is.
std::optional<std::string> message_after(const Job& job, const HeartbeatRequest& request) {
    if (!request.phase && !request.phase_message) return std::nullopt;
    Phase phase = phase_of(job);
    if (request.phase && *request.phase != phase.name) phase = {.name = *request.phase};
    if (request.phase_message) phase.message = *request.phase_message;
    return to_text(phase);
}

void beat(const Call& call, const FoundJob& found, const HeartbeatRequest& request) {
    const Job& job = found.job;
    const bool is_over = is_final(job.state);
    if (!found.lease || job.state == JobState::queued) {
        return call.reply.send(refused(not_yours(job, request.runner_id)));
    }
    if (!job.is_leased_under(*found.lease)) return answer_with(call, job);
    Heartbeat heartbeat{.lease = {job.spec.id, *found.lease},
                        .term = request.extend,
                        .bounds = bounds_of(*call.caller)};
    if (!is_over) heartbeat.message = message_after(job, request);
    call.app.commands.post_one<Heartbeat>(
        std::move(heartbeat), [call, id = job.spec.id](const Result<Extended>& extended) {
            if (!extended) return call.reply.send(refused(extended.error()));
            answer_with_stored(call, id);
        });
}

// One line of the list of runners.
struct SeenRunner {
    Timestamp last_seen{};
    bool waiting = false;
    std::vector<JobId> jobs{};
};
using SeenRunners = std::map<std::string, SeenRunner>;

SeenRunners seen_at_claims(const WorkersSeen& workers) {
    SeenRunners runners;
    for (const WorkerSeen& worker : workers) {
        const auto& queues = worker.filter.queues;
        if (queues.size() != 1 || queues.front() != sluice::deploy::queue) continue;
        runners[worker.worker_id] = {worker.at, worker.waiting, {}};
    }
    return runners;
}

// Who runs a job may not have claimed one for long, or at another node.
void add_busy(JobReader& reader, SeenRunners& runners) {
    JobFilter filter;
    filter.queue = sluice::deploy::queue;
    filter.states = {JobState::running};
    for (const Job& job : reader.list(filter, newest, 1000)) {
        SeenRunner& runner = runners[job.lease->worker_id];
        runner.last_seen = std::max(runner.last_seen, job.lease->until - job.lease->term);
        runner.jobs.push_back(job.spec.id);
    }
}

std::string runners_text(const SeenRunners& runners, Timestamp now, Duration memory) {
    std::string out;
    JsonWriter json(out);
    json.begin_array();
    for (const auto& [name, runner] : runners) {
        json.begin_object();
        json.field("runnerId", name);
        json.field("lastSeenAt", runner.last_seen);
        json.field("online", runner.waiting || now - runner.last_seen < memory);
        json.key("runningJobs");
        json.begin_array();
        for (const JobId id : runner.jobs) json.value(id);
        json.end_array();
        json.end_object();
    }
    json.end_array();
    return out;
}

}  // namespace

void claim(Call call) {
    auto request = read_claim(call);
    if (!request) return call.reply.send(refused(request.error()));
    ClaimJobs command = std::move(request->claim);
    if (const auto refusal = bind_claim(command, *call.caller)) {
        return call.reply.send(refused(*refusal));
    }
    command.ticket = ++call.app.tickets;
    if (request->wait > Duration{0}) {
        command.wait_until = call.app.clock.now() + request->wait;
        call.reply.on_hang_up(
            [&app = call.app, ticket = command.ticket] { app.commands.forget(ticket); });
    }
    const auto place = place_for_claim(call, command);
    if (!place) {
        Response refusal = refused_by_status(429, too_many_wait);
        refusal.headers.emplace_back("Retry-After", "1");
        return call.reply.send(std::move(refusal));
    }
    call.app.commands.post_one<ClaimJobs>(
        std::move(command),
        [call, place](const Result<Claimed>& claimed) { answer_claim(call, claimed); });
}

void heartbeat(Call call) {
    auto request = read_heartbeat(call);
    if (!request) return call.reply.send(refused(request.error()));
    const std::string runner_id = request->runner_id;
    with_job(call, runner_id, [call, request = *std::move(request)](const FoundJob& found) {
        beat(call, found, request);
    });
}

void report(Call call) {
    auto request = read_report(call);
    if (!request) return call.reply.send(refused(request.error()));
    const std::string runner_id = request->runner_id;
    with_job(call, runner_id, [call, request = *std::move(request)](const FoundJob& found) {
        if (!found.lease) {
            return call.reply.send(refused(not_yours(found.job, request.runner_id)));
        }
        Report said = request.report;
        said.lease = {found.job.spec.id, *found.lease};
        said.bounds = bounds_of(*call.caller);
        call.app.commands.post_one<Report>(
            std::move(said), [call](const Result<Job>& job) { answer_with_outcome(call, job); });
    });
}

void list_runners(Call call) {
    call.app.commands.post_one<AskWorkers>(
        {EntityKey{}.tenant}, [call](const Result<WorkersSeen>& workers) {
            if (!workers) return call.reply.send(refused(workers.error()));
            answer_with_text(
                call,
                [runners = seen_at_claims(*workers), now = call.app.clock.now(),
                 memory = call.app.deploy.runner_health](JobReader& reader) -> Result<std::string> {
                    SeenRunners all = runners;
                    add_busy(reader, all);
                    return runners_text(all, now, memory);
                });
        });
}

}  // namespace sluice::http::deploy
