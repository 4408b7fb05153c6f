#include "interfaces/http/native/job_questions.hpp"

#include "interfaces/http/answers.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/native/fields.hpp"
#include "interfaces/http/native/pages.hpp"

namespace sluice::http::native {
namespace {

// The job, if the caller may see it.
Result<Job> visible_job(JobReader& reader, JobId id, const std::string& tenant) {
    std::optional<Job> job = reader.find_one(id);
    if (!job || (!tenant.empty() && job->spec.tenant != tenant)) {
        return Error{ErrorCode::not_found, "no job has this id", ""};
    }
    return *std::move(job);
}

}  // namespace

void ask_about_job(Call call, const QueryParams& params,
                   std::function<Result<std::string>(JobReader&, const Job&)> question) {
    const auto id = job_id_in_path(call);
    if (!id) return call.reply.send(problem_of(id.error(), call.request.request_id));
    auto tenant = tenant_to_look_in(call, params);
    if (!tenant) return call.reply.send(problem_of(tenant.error(), call.request.request_id));
    const auto with_job = [id = *id, tenant = *std::move(tenant), question = std::move(question)](
                              JobReader& reader) -> Result<std::string> {
        const auto job = visible_job(reader, id, tenant);
        if (!job) return job.error();
        return question(reader, *job);
    };
    call.app.queries.ask<std::string>(
        with_job,
        [reply = call.reply, &request_id = call.request.request_id](Result<std::string> text) {
            reply.send(text ? json(200, *std::move(text)) : problem_of(text.error(), request_id));
        });
}

void ask_for_page(Call call, ReadPage read) {
    const auto params = read_query(call.request, {"after", "limit", "tenant"});
    if (!params) return call.reply.send(problem_of(params.error(), call.request.request_id));
    const auto page = read_page(*params);
    if (!page) return call.reply.send(problem_of(page.error(), call.request.request_id));
    const auto question = [read, page = *page](JobReader& reader,
                                               const Job& job) -> Result<std::string> {
        return read(reader, job.spec.id, page.after, page.limit);
    };
    ask_about_job(std::move(call), *params, question);
}

}  // namespace sluice::http::native
