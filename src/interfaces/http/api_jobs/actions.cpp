#include "interfaces/http/api_jobs/handlers.hpp"
#include "interfaces/http/api_jobs/job_json.hpp"
#include "interfaces/http/api_jobs/read_submit.hpp"
#include "interfaces/http/requests/read_action.hpp"
#include "interfaces/http/toolkit/answers.hpp"

namespace sluice::http::api_jobs {
namespace {

// The answer to a request that made a job, which has not run yet.
Response accepted_response(const Job& job, const SecretMarks& secrets) {
    Response response = json(202, job_text(job, secrets));
    response.headers.emplace_back("Location", "/api/jobs/" + to_text(job.spec->id));
    return response;
}

}  // namespace

void submit(Call call) {
    const std::string& request_id = call.request.request_id;
    auto command = read_submit(call);
    if (!command) return send_refusal(call, command.error());
    call.app.commands.post_one<SubmitJobs>(
        *std::move(command), [reply = call.reply, &request_id,
                              &secrets = call.app.rules.secrets](Result<Submitted> submitted) {
            if (!submitted) return reply.send(problem_of(submitted.error(), request_id));
            Response response = accepted_response(submitted->jobs.front(), secrets);
            if (submitted->repeated) response.headers.emplace_back("Idempotent-Replayed", "true");
            reply.send(std::move(response));
        });
}

void cancel(Call call) {
    const std::string& request_id = call.request.request_id;
    auto command = read_cancel(call);
    if (!command) return send_refusal(call, command.error());
    call.app.commands.post_one<CancelJob>(
        *std::move(command),
        [reply = call.reply, &request_id, &secrets = call.app.rules.secrets](Result<Job> job) {
            reply.send(job ? json(200, job_text(*job, secrets))
                           : problem_of(job.error(), request_id));
        });
}

void replay(Call call) {
    const std::string& request_id = call.request.request_id;
    auto command = read_replay(call);
    if (!command) return send_refusal(call, command.error());
    call.app.commands.post_one<ReplayJob>(
        *std::move(command),
        [reply = call.reply, &request_id, &secrets = call.app.rules.secrets](Result<Job> job) {
            reply.send(job ? accepted_response(*job, secrets)
                           : problem_of(job.error(), request_id));
        });
}

}  // namespace sluice::http::api_jobs
