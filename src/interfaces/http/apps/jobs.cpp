// What is asked about an app's jobs.
#include <fmt/format.h>

#include "interfaces/http/apps/exchange.hpp"
#include "interfaces/http/apps/handlers.hpp"
#include "interfaces/http/apps/job_json.hpp"
#include "interfaces/http/native/fields.hpp"

namespace sluice::http::apps {
namespace {

struct JobListQuery {
    PageQuery page;
    JobFilter filter;
};

Result<JobListQuery> read_job_list(const Request& request) {
    const auto params = native::read_query(request, {"page", "limit", "type", "state"});
    if (!params) return params.error();
    const auto page = read_page(*params);
    if (!page) return page.error();
    JobListQuery query{*page, {}};
    if (const std::string* type = params->find("type")) {
        if (!is_job_type(*type)) {
            return Error{ErrorCode::malformed, fmt::format("\"{}\" is not a job type", *type), ""};
        }
        query.filter.type = *type;
    }
    if (const std::string* state = params->find("state")) {
        query.filter.states = states_shown_as(*state);
        if (query.filter.states.empty()) {
            return Error{ErrorCode::malformed,
                         fmt::format("\"{}\" is not a state; states are queued, running, "
                                     "succeeded, failed, canceled",
                                     *state),
                         ""};
        }
    }
    return query;
}

Result<Job> find_job(JobReader& reader, const Entity& app, const std::string& id) {
    const auto job_id = parse_job_id(id);
    std::optional<Job> job = job_id ? reader.find_one(*job_id) : std::nullopt;
    if (!job || job->spec.tenant != app.key.tenant || job->spec.project != app.key.id) {
        return Error{ErrorCode::not_found, "this app has no job with this id", ""};
    }
    return *std::move(job);
}

}  // namespace

void list_jobs(Call call) {
    auto query = read_job_list(call.request);
    if (!query) return call.reply.send(refusal_of(query.error(), call.request.request_id));
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_about_jobs(
        std::move(call),
        [query = *std::move(query), &secrets](JobReader& reader,
                                              const Entity& app) -> Result<Response> {
            JobFilter filter = query.filter;
            filter.tenant = app.key.tenant;
            filter.project = app.key.id;
            const Page<Job> page{reader.page(filter, query.page.offset(), query.page.limit),
                                 reader.count(filter)};
            return page_response(query.page, page, [&](JsonWriter& json, const Job& job) {
                write_job(json, job, secrets);
            });
        });
}

void get_job(Call call) {
    const auto params = native::read_query(call.request, {});
    if (!params) return call.reply.send(refusal_of(params.error(), call.request.request_id));
    const std::string id(call.second);
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_about_jobs(std::move(call),
                   [id, &secrets](JobReader& reader, const Entity& app) -> Result<Response> {
                       const Result<Job> job = find_job(reader, app, id);
                       if (!job) return job.error();
                       return data(200, [&](JsonWriter& json) { write_job(json, *job, secrets); });
                   });
}

// Lines are numbered without gaps, in the order in which they were written.
void get_job_logs(Call call) {
    const auto params = native::read_query(call.request, {"page", "limit"});
    if (!params) return call.reply.send(refusal_of(params.error(), call.request.request_id));
    const auto query = read_page(*params);
    if (!query) return call.reply.send(refusal_of(query.error(), call.request.request_id));
    const std::string id(call.second);
    ask_about_jobs(std::move(call),
                   [id, query = *query](JobReader& reader, const Entity& app) -> Result<Response> {
                       const Result<Job> job = find_job(reader, app, id);
                       if (!job) return job.error();
                       const Page<LogLine> page{
                           reader.logs(job->spec.id, query.offset(), query.limit), job->log_seq};
                       return page_response(query, page, write_log_line);
                   });
}

}  // namespace sluice::http::apps
