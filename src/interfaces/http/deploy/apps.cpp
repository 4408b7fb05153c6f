// Requests of the control plane about whole apps: to stop what runs of an app, to forget it, or
// both.
#include <fmt/format.h>

#include "application/deploy/deploy_jobs.hpp"
#include "interfaces/http/deploy/agent_calls.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/deploy/handlers.hpp"
#include "interfaces/http/deploy/job_answers.hpp"
#include "interfaces/http/deploy/plane.hpp"
#include "interfaces/http/deploy/read_requests.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "json/json_values.hpp"

namespace sluice::http::deploy {
namespace {

using sluice::deploy::Purged;
constexpr int canceled_at_once = 200;

// The facts about an app before a request about it is carried out.
struct AppFound {
    NodeOfApp node{};
    std::vector<JobId> active{};  // jobs that have not ended
};

void with_app(const Call& call, const std::string& app_id, std::function<void(AppFound)> then) {
    const auto question = [app_id](JobReader& reader) -> Result<AppFound> {
        AppFound found;
        found.node =
            sluice::deploy::node_of_app(reader.entities(), sluice::deploy::app_key(app_id));
        each_job(reader, sluice::deploy::active_jobs_of(app_id), canceled_at_once,
                 [&](const Job& job) { found.active.push_back(job.spec->id); });
        return found;
    };
    call.app.queries.ask<AppFound>(question, [call, then = std::move(then)](Result<AppFound> app) {
        if (!app) return call.reply.send(refused(app.error()));
        then(*std::move(app));
    });
}

using AgentDone = std::function<void(AgentCalls::Answer)>;

// Calls the agent of the app's node; a refusal comes as the answer's error.
void call_agent(const Call& call, const NodeOfApp& node, std::string_view verb,
                const AppRequest& request, AgentDone done) {
    const std::string& token = call.app.part<Plane>().settings.agent_token;
    if (token.empty()) return done({.error = "deploy.runtime-agent.token is not configured"});
    if (node->agent_base_url.empty()) {
        return done({.error = fmt::format("runtime node {} has no agentBaseUrl", node->name)});
    }
    AgentCalls::Wanted wanted{
        .url =
            fmt::format("{}/agent/apps/{}", without_slashes_at_the_end(node->agent_base_url), verb),
        .token = token,
        .body = fmt::format(R"({{"userId":{},"appId":{}}})", request.user_json, request.app_json)};
    const auto told = [done, name = node->name](AgentCalls::Answer answer) {
        if (!answer.error.empty()) {
            answer.error = fmt::format("the agent of runtime node {}: {}", name, answer.error);
        }
        done(std::move(answer));
    };
    AgentCalls* const agents = call.app.part<Plane>().agents;
    if (agents == nullptr || !agents->post(std::move(wanted), told)) {
        done({.error = "too many calls of runtime agents wait already"});
    }
}

using Decide = std::function<Result<EntityAnswer>(EntityChanges&)>;

using Refused = std::function<void(const Error&)>;

Refused answer_refused(const Call& call) {
    return [call](const Error& error) { call.reply.send(refused(error)); };
}

void change_app(const Call& call, const std::string& app_id, Decide decide,
                std::function<void()> then, Refused refuse) {
    const auto decide_as = [actor = actor_name(*call.caller),
                            decide = std::move(decide)](EntityChanges& changes) {
        changes.act_as(actor);
        return decide(changes);
    };
    call.app.commands.post_one<EntityAction>(
        {{sluice::deploy::app_key(app_id)}, decide_as},
        [then = std::move(then), refuse = std::move(refuse)](const Result<EntityAnswer>& answer) {
            if (!answer) return refuse(answer.error());
            then();
        });
}

// The app's history tells that it was stopped, and by whom.
Decide note_stop(const std::string& app_id) {
    return [app_id](EntityChanges& changes) -> Result<EntityAnswer> {
        auto app = changes.find(sluice::deploy::app_key(app_id));
        if (app) changes.save(*app, "stopped");
        return EntityAnswer{};
    };
}

void answer_stopped(const Call& call, const AppRequest& request, const RuntimeNode& node,
                    const std::string& runtime) {
    const std::string data = json_object_text([&](JsonWriter& json) {
        json.raw_field("appId", request.app_json);
        json.raw_field("userId", request.user_json);
        json.field("nodeId", node.id);
        json.field("agentBaseUrl", node.agent_base_url);
        json.raw_field("runtime", runtime);
    });
    call.reply.send(success(data));
}

// A job that has not ended is canceled first, so that its runner stops before it pushes; an app
// that gets a new one meanwhile is not purged.
void cancel_active(const Call& call, const std::vector<JobId>& active, std::function<void()> then) {
    if (active.empty()) return then();
    std::vector<CancelJob> cancels;
    for (const JobId id : active) {
        cancels.push_back(cancel_of(id, "the app is purged", *call.caller));
    }
    // A job that has ended by itself meanwhile need not be canceled.
    call.app.commands.post<CancelJob>(
        std::move(cancels), [call, then = std::move(then)](const AnswersTo<CancelJob>& answers) {
            for (const Result<Job>& answer : answers) {
                if (answer || answer.error().code == ErrorCode::conflict) continue;
                return call.reply.send(refused(answer.error()));
            }
            then();
        });
}

using Counted = std::function<void(const Purged&)>;

void purge(const Call& call, const std::string& app_id, Counted then, Refused refuse) {
    const auto purged = std::make_shared<Purged>();
    const auto decide = [app_id, purged](EntityChanges& changes) -> Result<EntityAnswer> {
        const auto counts = sluice::deploy::purge_app(changes, app_id);
        if (!counts) return counts.error();
        *purged = *counts;
        return EntityAnswer{};
    };
    change_app(
        call, app_id, decide, [purged, then = std::move(then)] { then(*purged); },
        std::move(refuse));
}

std::string purged_text(const AppRequest& request, const Purged& purged) {
    return json_object_text([&](JsonWriter& json) {
        json.raw_field("appId", request.app_json);
        json.raw_field("userId", request.user_json);
        json.field("deletedJobs", purged.jobs);
        json.field("deletedAppRuns", purged.runs);
        json.field("deletedPlacements", purged.placements);
    });
}

// There is no registry here: image tags are the runners' and stay.
std::string cleaned_up_text(const AppRequest& request, std::string_view runtime,
                            std::string_view purge) {
    return json_object_text([&](JsonWriter& json) {
        json.raw_field("userId", request.user_json);
        json.raw_field("appId", request.app_json);
        json.raw_field("imageTags", "[]");
        json.raw_field("registry", "null");
        json.raw_field("runtime", runtime);
        json.raw_field("purge", purge);
    });
}

// Deletes the app at its node if it is on one. Best effort: an error is part of the answer.
void delete_at_node(const Call& call, const NodeOfApp& node, const AppRequest& request,
                    std::function<void(std::string)> then) {
    if (!node) return then("null");
    call_agent(call, node, "delete", request,
               [then = std::move(then)](const AgentCalls::Answer& answer) {
                   if (answer.error.empty()) return then(answer.json);
                   then(fmt::format(R"({{"error":{}}})", json_string(answer.error)));
               });
}

}  // namespace

void stop_app(Call call) {
    const auto request = read_app_request(call);
    if (!request) return call.reply.send(refused(request.error()));
    if (call.app.part<Plane>().settings.agent_token.empty()) {
        return call.reply.send(
            refused({ErrorCode::conflict, "deploy.runtime-agent.token is not configured", ""}));
    }
    with_app(call, request->app_id, [call, request = *request](const AppFound& app) {
        if (!app.node) {
            return call.reply.send(
                refused({ErrorCode::not_found,
                         fmt::format("app {} is on no runtime node", request.app_id), ""}));
        }
        const auto stopped = [call, request, node = *app.node](const AgentCalls::Answer& answer) {
            if (!answer.error.empty()) return call.reply.send(refused_with(500, answer.error));
            change_app(
                call, request.app_id, note_stop(request.app_id),
                [call, request, node, answer] { answer_stopped(call, request, node, answer.json); },
                answer_refused(call));
        };
        call_agent(call, app.node, "stop", request, stopped);
    });
}

void purge_app(Call call) {
    const auto request = read_app_request(call);
    if (!request) return call.reply.send(refused(request.error()));
    with_app(call, request->app_id, [call, request = *request](const AppFound& app) {
        cancel_active(call, app.active, [call, request] {
            purge(
                call, request.app_id,
                [call, request](const Purged& purged) {
                    call.reply.send(success(purged_text(request, purged)));
                },
                answer_refused(call));
        });
    });
}

void clean_up_app(Call call) {
    const auto request = read_app_request(call);
    if (!request) return call.reply.send(refused(request.error()));
    with_app(call, request->app_id, [call, request = *request](const AppFound& app) {
        const auto forget = [call, request](const std::string& runtime) {
            const auto purged = [call, request, runtime](const Purged& counts) {
                call.reply.send(
                    success(cleaned_up_text(request, runtime, purged_text(request, counts))));
            };
            // The answer tells what the agent did, although the app is not purged.
            const auto not_purged = [call, request, runtime](const Error& error) {
                if (error.code != ErrorCode::conflict) return call.reply.send(refused(error));
                call.reply.send(
                    refused_with(409, error.message, cleaned_up_text(request, runtime, "null")));
            };
            purge(call, request.app_id, purged, not_purged);
        };
        cancel_active(call, app.active, [call, request, node = app.node, forget] {
            delete_at_node(call, node, request, forget);
        });
    });
}

}  // namespace sluice::http::deploy
