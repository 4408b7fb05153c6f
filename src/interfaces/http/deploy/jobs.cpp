// Requests of the control plane about jobs: create, query, list, cancel, transition.
#include <functional>

#include "application/deploy/deploy_jobs.hpp"
#include "application/entities/entity_changes.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/deploy/handlers.hpp"
#include "interfaces/http/deploy/job_answers.hpp"
#include "interfaces/http/deploy/read_requests.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/job_list.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::deploy {
namespace {

JobFilter deploy_filter() {
    JobFilter filter;
    filter.queue = sluice::deploy::queue;
    return filter;
}

using MakeFilter = std::function<JobFilter(JobReader&)>;

// Answers with the newest jobs that the filter accepts; fewer when they are very large.
void answer_with_list(const Call& call, MakeFilter make_filter, int limit) {
    JobListFormat format;
    format.begin = success_begin() + "[";
    format.texts = [showing = showing_to(call)](JobReader& reader, std::span<const Job> jobs) {
        const auto nodes = sluice::deploy::nodes_of(reader.entities(), jobs);
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            texts.push_back(job_text(jobs[i], nodes[i], showing));
        }
        return texts;
    };
    format.end = [](const std::optional<std::string>&) { return std::string("]}"); };
    const auto question = [make_filter = std::move(make_filter), limit,
                           format = std::move(format)](JobReader& reader) {
        JobListQuery query;
        query.filter = make_filter(reader);
        query.limit = limit;
        return job_list(std::move(query), format)(reader);
    };
    answer_from_store(call, question, refusal_of);
}

Result<JobFilter> read_filter(const QueryParams& params) {
    JobFilter filter = deploy_filter();
    if (const std::string* type = params.find("type")) filter.type = *type;
    const std::string* status = params.find("status");
    if (status == nullptr || status->empty()) return filter;
    filter.states = states_of(*status);
    if (filter.states.empty()) {
        return Error{ErrorCode::malformed,
                     "status must be PENDING, RUNNING, SUCCEEDED, FAILED or CANCELLED", ""};
    }
    return filter;
}

// Ends a job on behalf of its runner, whichever that is.
void end_running(const Call& call, JobId id, Transition wanted) {
    Report report;
    report.lease.job = id;
    report.outcome = wanted.state == JobState::succeeded ? Outcome::succeeded : Outcome::failed;
    report.error_message = std::move(wanted.error_message);
    report.retryable = false;
    report.actor = actor_name(*call.caller);
    report.bounds = {.tenant = EntityKey{}.tenant, .types = {}, .queue = sluice::deploy::queue};
    report.by_worker = ByWorker{};
    call.app.commands.post_one<Report>(
        std::move(report), [call](const Result<Job>& ended) { answer_with_outcome(call, ended); });
}

void post_cancel(const Call& call, CancelJob command) {
    call.app.commands.post_one<CancelJob>(std::move(command), [call](const Result<Job>& canceled) {
        answer_with_outcome(call, canceled);
    });
}

}  // namespace

void create_job(Call call) {
    auto wanted = read_create(call);
    if (!wanted) return call.reply.send(refused(wanted.error()));
    std::vector<EntityKey> touches;
    if (!wanted->entity_id.empty()) touches.push_back(sluice::deploy::app_key(wanted->entity_id));
    const auto decide = [wanted = *std::move(wanted),
                         actor = actor_name(*call.caller)](EntityChanges& changes) {
        changes.act_as(actor);
        return sluice::deploy::create_job(changes, wanted);
    };
    call.app.commands.post_one<EntityAction>(
        {std::move(touches), decide}, [call](const Result<EntityAnswer>& created) {
            if (!created) return call.reply.send(refused(created.error()));
            std::optional<RuntimeNode> node;
            if (!created->others.empty()) node = to_node(created->others.front());
            call.reply.send(success(job_text(created->jobs.front(), node, showing_to(call))));
        });
}

void get_job(Call call) {
    answer_with_looked_at(call);
}

void list_jobs(Call call) {
    const auto params = read_query(call.request, {"limit", "status", "type"});
    if (!params) return call.reply.send(refused(params.error()));
    const auto limit = read_limit(*params, usual_limit);
    if (!limit) return call.reply.send(refused(limit.error()));
    const auto filter = read_filter(*params);
    if (!filter) return call.reply.send(refused(filter.error()));
    answer_with_list(
        call, [filter = *filter](JobReader&) { return filter; }, *limit);
}

void list_jobs_of_app(Call call) {
    const auto params = read_query(call.request, {"appId", "limit"});
    if (!params) return call.reply.send(refused(params.error()));
    const auto limit = read_limit(*params, usual_limit);
    if (!limit) return call.reply.send(refused(limit.error()));
    const std::string* app_id = params->find("appId");
    if (app_id == nullptr || app_id->empty()) {
        return call.reply.send(refused({ErrorCode::malformed, "appId is required", ""}));
    }
    answer_with_list(
        call,
        [app_id = *app_id](JobReader& reader) {
            return sluice::deploy::listed_jobs_of(reader.entities(), app_id);
        },
        *limit);
}

void cancel(Call call) {
    auto reason = read_cancel_reason(call);
    if (!reason) return call.reply.send(refused(reason.error()));
    const auto id = job_id_in_path(call);
    if (!id) return call.reply.send(refused(id.error()));
    post_cancel(call, cancel_of(*id, *std::move(reason), *call.caller));
}

void transition(Call call) {
    auto wanted = read_transition(call);
    if (!wanted) return call.reply.send(refused(wanted.error()));
    const auto id = job_id_in_path(call);
    if (!id) return call.reply.send(refused(id.error()));
    if (wanted->state != JobState::canceled) return end_running(call, *id, *std::move(wanted));
    CancelJob command = cancel_of(*id, std::move(wanted->error_message), *call.caller);
    command.only_once = true;
    post_cancel(call, std::move(command));
}

}  // namespace sluice::http::deploy
