// Everything that is asked about jobs.
#include "interfaces/http/answers.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/native/fields.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/job_json.hpp"
#include "interfaces/http/native/job_list.hpp"
#include "interfaces/http/native/job_questions.hpp"

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
    ask_for_page(std::move(call),
                 [](JobId id, Page page) { return log_page("next_after", id, page); });
}

void get_events(Call call) {
    ask_for_page(std::move(call), [](JobId id, Page page) {
        const auto fetch = [id](JobReader& reader, std::int64_t after, int count) {
            return reader.events(id, after, count);
        };
        return numbered_page("events", "next_after", page, fetch, write_event);
    });
}

void list_jobs(Call call) {
    auto query = read_job_list(call);
    if (!query) return call.reply.send(problem_of(query.error(), call.request.request_id));
    const auto text = [&secrets = call.app.rules.secrets](const Job& job) {
        return job_text(job, secrets);
    };
    answer_from_store(
        call, job_list(*std::move(query), job_list_words("/api/v1/jobs", "next_cursor", text)));
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
