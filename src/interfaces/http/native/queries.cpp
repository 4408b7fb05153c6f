// Everything that is asked about jobs.
#include "interfaces/http/answers.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/native/fields.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/job_filter.hpp"
#include "interfaces/http/native/job_json.hpp"
#include "interfaces/http/native/job_questions.hpp"
#include "interfaces/http/native/pages.hpp"

namespace sluice::http::native {

void get_job(Call call) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return call.reply.send(problem_of(params.error(), call.request.request_id));
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_about_job(std::move(call), *params,
                  [&secrets](JobReader&, const Job& job) -> Result<std::string> {
                      return job_text(job, secrets);
                  });
}

void get_logs(Call call) {
    ask_for_page(std::move(call), [](JobReader& reader, JobId id, std::int64_t after, int limit) {
        return page_text("logs", "next_after", reader.logs(id, after, limit), after,
                         write_log_line);
    });
}

void get_events(Call call) {
    ask_for_page(std::move(call), [](JobReader& reader, JobId id, std::int64_t after, int limit) {
        return page_text("events", "next_after", reader.events(id, after, limit), after,
                         write_event);
    });
}

void list_jobs(Call call) {
    const auto query = read_job_list(call);
    if (!query) return call.reply.send(problem_of(query.error(), call.request.request_id));
    const auto question = [query = *query](JobReader& reader) -> Result<JobPage> {
        return read_job_page(reader, query);
    };
    call.app.queries.ask<JobPage>(
        question, [reply = call.reply, query = *query, &secrets = call.app.rules.secrets,
                   &request_id = call.request.request_id](Result<JobPage> page) {
            reply.send(page ? job_list_response(query, *page, secrets)
                            : problem_of(page.error(), request_id));
        });
}

void explain(Call call) {
    const std::string& request_id = call.request.request_id;
    const auto id = job_id_in_path(call);
    if (!id) return call.reply.send(problem_of(id.error(), request_id));
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return call.reply.send(problem_of(params.error(), request_id));
    auto tenant = tenant_to_look_in(call, *params);
    if (!tenant) return call.reply.send(problem_of(tenant.error(), request_id));
    call.app.commands.post_one<ExplainJob>(
        {*id, *std::move(tenant)},
        [reply = call.reply, &request_id](Result<Explanation> explanation) {
            reply.send(explanation ? json(200, explanation_text(*explanation))
                                   : problem_of(explanation.error(), request_id));
        });
}

}  // namespace sluice::http::native
