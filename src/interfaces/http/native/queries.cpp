// All questions about jobs.
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/job_json.hpp"
#include "interfaces/http/native/next_starts.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/job_list.hpp"
#include "interfaces/http/requests/job_questions.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::native {

void get_job(Call call) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_about_job(std::move(call), *params,
                  [&secrets, &clock = call.app.clock](JobReader& reader,
                                                      const Job& job) -> Result<std::string> {
                      return job_text(job, secrets, NextStarts(reader, clock.now()).of(job));
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
    if (!query) return send_refusal(call, query.error());
    JobListFormat format = job_list_format("/api/v1/jobs", "next_cursor", {});
    format.texts = [&secrets = call.app.rules.secrets, &clock = call.app.clock](
                       JobReader& reader, std::span<const Job> jobs) {
        NextStarts next(reader, clock.now());
        std::vector<std::string> texts;
        for (const Job& job : jobs) texts.push_back(job_text(job, secrets, next.of(job)));
        return texts;
    };
    answer_from_store(call, job_list(*std::move(query), std::move(format)));
}

void explain(Call call) {
    const std::string& request_id = call.request.request_id;
    const auto id = job_id_in_path(call);
    if (!id) return send_refusal(call, id.error());
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    auto tenant = tenant_to_look_in(call, *params);
    if (!tenant) return send_refusal(call, tenant.error());
    call.app.commands.post_one<ExplainJob>(
        {*id, *std::move(tenant), viewer_of(*call.caller)},
        [reply = call.reply, &request_id](Result<Explanation> explanation) {
            reply.send(explanation ? json(200, explanation_text(*explanation))
                                   : problem_of(explanation.error(), request_id));
        });
}

}  // namespace sluice::http::native
