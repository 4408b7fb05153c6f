// Requests of runners: claim, heartbeat, report. A runner knows only its own name; the rules of
// leases decide which lease that name stands for.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "application/deploy/deploy_jobs.hpp"
#include "application/entities/entity_changes.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/deploy/handlers.hpp"
#include "interfaces/http/deploy/job_answers.hpp"
#include "interfaces/http/deploy/plane.hpp"
#include "interfaces/http/deploy/read_requests.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "json/json_writer.hpp"

namespace sluice::http::deploy {
namespace {

void give_back(App& app, const Job& job, std::string reason) {
    app.commands.post_one<HandBack>(
        {.lease = {job.spec->id, job.lease->token}, .reason = std::move(reason)},
        [](const auto&) {});
}

// The app was put on a node when the job was created, or in the transaction of the claim.
void hand_out(const Call& call, const Job& job) {
    const Showing showing = showing_to(call);
    // The runner needs all of it, secrets included.
    const Showing to_runner{SecretMarks::none(), showing.now, showing.node_memory};
    with_text(call, job, to_runner, [call, job](const Result<std::string>& text) {
        if (!call.reply.is_open()) {
            return give_back(call.app, job, "the runner hung up before it got the job");
        }
        if (text) return call.reply.send(success(*text));
        give_back(call.app, job, "the runner could not be told where the app goes");
        call.reply.send(refused(text.error()));
    });
}

void answer_claim(const Call& call, const Result<Claimed>& claimed) {
    if (!claimed) return call.reply.send(refused(claimed.error()));
    if (claimed->empty()) return call.reply.send(success("null"));
    if (!call.app.access.is_still_good(*call.caller)) {
        give_back(call.app, claimed->front(), "the runner's token is good no more");
        return call.reply.send(unauthorized(call.request));
    }
    hand_out(call, claimed->front());
}

// The existing runners look at the code: anything but 200 makes them stop before they push.
void answer_heartbeat(const Call& call, const Result<Extended>& extended) {
    if (!extended) return call.reply.send(refused(extended.error()));
    const Job& job = *extended->job;
    if (job.now.state == JobState::running) return answer_with(call, job);
    refuse_with(call, job,
                fmt::format("the job is {}: stop working on it", status_of(job.now.state)));
}

// One line of the list of runners.
struct SeenRunner {
    Timestamp last_seen{};
    std::vector<JobId> jobs{};
};
using SeenRunners = std::map<std::string, SeenRunner>;

constexpr int busy_jobs_max = 1000;  // more are not shown

// A runner that has a job may have been seen by another engine.
void add_busy(JobReader& reader, SeenRunners& runners) {
    JobFilter filter;
    filter.queue = sluice::deploy::queue;
    filter.states = {JobState::running};
    each_job(reader, filter, busy_jobs_max, [&](const Job& job) {
        SeenRunner& runner = runners[job.lease->worker_id];
        runner.last_seen = std::max(runner.last_seen, job.lease->until - job.lease->term);
        runner.jobs.push_back(job.spec->id);
    });
}

std::string runners_text(const SeenRunners& runners, Timestamp now, Duration memory) {
    std::string out;
    JsonWriter json(out);
    json.begin_array();
    for (const auto& [name, runner] : runners) {
        const bool is_online = now - runner.last_seen < memory;
        json.begin_object();
        json.field("runnerId", name);
        json.field("lastSeenAtMs", to_millis(runner.last_seen.time_since_epoch()));
        json.field("lastSeenAt", runner.last_seen);
        json.field("health", is_online ? "HEALTHY" : "STALE");
        json.field("online", is_online);
        json.list("runningJobs", runner.jobs);
        json.end_object();
    }
    json.end_array();
    return out;
}

void note_seen(App& app, const std::string& runner_id) {
    app.part<Plane>().runners_seen.note(runner_id, app.clock.now());
}

}  // namespace

void claim(Call call) {
    auto request = read_claim(call);
    if (!request) return call.reply.send(refused(request.error()));
    ClaimJobs command = std::move(request->claim);
    if (const auto refusal = bind_claim(command, *call.caller)) {
        return call.reply.send(refused(*refusal));
    }
    const std::string runner_id = command.worker_id;
    note_seen(call.app, runner_id);
    command.ticket = ++call.app.tickets;
    if (request->wait > Duration{0}) {
        command.wait_until = call.app.clock.now() + request->wait;
        call.reply.on_hang_up(
            [&app = call.app, ticket = command.ticket] { app.commands.forget(ticket); });
    }
    const auto share = share_for_claim(call, command);
    if (!share) {
        Response refusal = refused_by_status(429, too_many_wait);
        refusal.headers.emplace_back("Retry-After", "1");
        return call.reply.send(std::move(refusal));
    }
    call.app.commands.post_one<ClaimJobs>(
        std::move(command), [call, share, runner_id](const Result<Claimed>& claimed) {
            if (call.reply.is_open()) note_seen(call.app, runner_id);  // it has waited until now
            answer_claim(call, claimed);
        });
}

void heartbeat(Call call) {
    auto said = read_heartbeat(call);
    if (!said) return call.reply.send(refused(said.error()));
    note_seen(call.app, said->by_worker->worker_id);
    call.app.commands.post_one<Heartbeat>(
        *std::move(said),
        [call](const Result<Extended>& extended) { answer_heartbeat(call, extended); });
}

void report(Call call) {
    auto said = read_report(call);
    if (!said) return call.reply.send(refused(said.error()));
    note_seen(call.app, said->by_worker->worker_id);
    call.app.commands.post_one<Report>(
        *std::move(said), [call](const Result<Job>& job) { answer_with_outcome(call, job); });
}

void list_runners(Call call) {
    SeenRunners seen;
    for (const auto& [name, at] : call.app.part<Plane>().runners_seen.all())
        seen[name].last_seen = at;
    answer_with_text(call,
                     [seen = std::move(seen), now = call.app.clock.now(),
                      memory = call.app.part<Plane>().settings.runner_health](
                         JobReader& reader) -> Result<std::string> {
                         SeenRunners all = seen;
                         add_busy(reader, all);
                         return runners_text(all, now, memory);
                     });
}

}  // namespace sluice::http::deploy
