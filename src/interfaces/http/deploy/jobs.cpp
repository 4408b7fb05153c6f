// What the control plane says and asks: create, query, list, cancel, transition.
#include <fmt/format.h>

#include "application/deploy/deploy_jobs.hpp"
#include "application/entity_desk.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/deploy/handlers.hpp"
#include "interfaces/http/deploy/job_answers.hpp"
#include "interfaces/http/deploy/read_requests.hpp"
#include "interfaces/http/native/fields.hpp"
#include "interfaces/http/native/job_filter.hpp"

namespace sluice::http::deploy {
namespace {

constexpr int usual_limit = 50;

JobFilter deploy_filter() {
    JobFilter filter;
    filter.queue = sluice::deploy::queue;
    return filter;
}

// Answers with the newest jobs that the filter accepts; fewer when they are very large.
void answer_with_list(const Call& call, JobFilter filter, int limit) {
    native::JobListQuery query;
    query.filter = std::move(filter);
    query.limit = limit;
    answer_with_text(call,
                     [query = std::move(query),
                      &secrets = call.app.rules.secrets](JobReader& reader) -> Result<std::string> {
                         const auto jobs = native::read_job_page(reader, query).jobs;
                         return jobs_text(jobs, sluice::deploy::nodes_of(reader.entities(), jobs),
                                          secrets);
                     });
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

// Ends a job in its runner's place.
void end_running(const Call& call, const Job& job, JobState state) {
    if (job.state != JobState::running) {
        return call.reply.send(refused({ErrorCode::conflict,
                                        fmt::format("a job that is {} cannot become {}",
                                                    status_of(job.state), status_of(state)),
                                        ""}));
    }
    Report report;
    report.lease = {job.spec.id, job.lease->token};
    report.outcome = state == JobState::succeeded ? Outcome::succeeded : Outcome::failed;
    report.retryable = false;
    report.actor = actor_name(*call.caller);
    call.app.commands.post_one<Report>(
        std::move(report), [call](const Result<Job>& ended) { answer_with_outcome(call, ended); });
}

void cancel_job(const Call& call, JobId id, std::string reason) {
    call.app.commands.post_one<CancelJob>(
        {.job = id,
         .reason = std::move(reason),
         .actor = actor_name(*call.caller),
         .is_admin = call.caller->is_admin()},
        [call](const Result<Job>& canceled) { answer_with_outcome(call, canceled); });
}

}  // namespace

void create_job(Call call) {
    auto wanted = read_create(call);
    if (!wanted) return call.reply.send(refused(wanted.error()));
    const auto decide = [wanted = *std::move(wanted),
                         actor = actor_name(*call.caller)](EntityDesk& desk) {
        desk.act_as(actor);
        return sluice::deploy::create_job(desk, wanted);
    };
    call.app.commands.post_one<EntityAction>(
        {decide}, [reply = call.reply,
                   &secrets = call.app.rules.secrets](const Result<EntityAnswer>& created) {
            if (!created) return reply.send(refused(created.error()));
            std::optional<RuntimeNode> node;
            if (!created->others.empty()) node = to_node(created->others.front());
            reply.send(success(job_text(created->jobs.front(), node, secrets)));
        });
}

void get_job(Call call) {
    with_job(call, "", [call](FoundJob found) { answer_with(call, std::move(found.job)); });
}

void list_jobs(Call call) {
    const auto params = native::read_query(call.request, {"limit", "status", "type"});
    if (!params) return call.reply.send(refused(params.error()));
    const auto limit = read_limit(*params, usual_limit);
    if (!limit) return call.reply.send(refused(limit.error()));
    const auto filter = read_filter(*params);
    if (!filter) return call.reply.send(refused(filter.error()));
    answer_with_list(call, *filter, *limit);
}

void list_jobs_of_app(Call call) {
    const auto params = native::read_query(call.request, {"appId", "limit"});
    if (!params) return call.reply.send(refused(params.error()));
    const auto limit = read_limit(*params, usual_limit);
    if (!limit) return call.reply.send(refused(limit.error()));
    const std::string* app_id = params->find("appId");
    if (app_id == nullptr || app_id->empty()) {
        return call.reply.send(refused({ErrorCode::malformed, "appId is required", ""}));
    }
    JobFilter filter = deploy_filter();
    filter.entity_type = sluice::deploy::app_kind;
    filter.entity_id = *app_id;
    answer_with_list(call, std::move(filter), *limit);
}

void cancel(Call call) {
    auto reason = read_cancel(call);
    if (!reason) return call.reply.send(refused(reason.error()));
    with_job(call, "", [call, reason = *std::move(reason)](const FoundJob& found) {
        cancel_job(call, found.job.spec.id, reason);
    });
}

void transition(Call call) {
    const auto state = read_transition(call);
    if (!state) return call.reply.send(refused(state.error()));
    with_job(call, "", [call, state = *state](const FoundJob& found) {
        const Job& job = found.job;
        if (state != JobState::canceled || is_final(job.state)) {
            return end_running(call, job, state);
        }
        cancel_job(call, job.spec.id, "");
    });
}

}  // namespace sluice::http::deploy
