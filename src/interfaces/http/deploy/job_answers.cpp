#include "interfaces/http/deploy/job_answers.hpp"

#include "application/deploy/deploy_jobs.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/deploy/job_json.hpp"

namespace sluice::http::deploy {
namespace {

Error not_there() {
    return {ErrorCode::not_found, "no job has this id", ""};
}

Result<Job> visible_job(JobReader& reader, JobId id) {
    std::optional<Job> job = reader.find_one(id);
    if (!job || !sluice::deploy::is_deploy_job(*job)) {
        return not_there();
    }
    return *std::move(job);
}

// The lease that the runner holds, or held last when nobody holds one.
std::optional<LeaseToken> lease_of(JobReader& reader, const Job& job,
                                   const std::string& runner_id) {
    if (runner_id.empty()) return std::nullopt;
    if (job.lease && job.lease->worker_id == runner_id) return job.lease->token;
    if (job.state == JobState::running) return std::nullopt;
    return sluice::deploy::last_lease(reader, job.spec.id, runner_id);
}

std::string text_with_node(JobReader& reader, const Job& job, const SecretMarks& secrets) {
    return job_text(job, sluice::deploy::nodes_of(reader.entities(), {&job, 1}).front(), secrets);
}

}  // namespace

void answer_with_text(const Call& call, std::function<Result<std::string>(JobReader&)> question) {
    call.app.queries.ask<std::string>(std::move(question),
                                      [reply = call.reply](const Result<std::string>& text) {
                                          reply.send(text ? success(*text) : refused(text.error()));
                                      });
}

void with_job(const Call& call, const std::string& runner_id, std::function<void(FoundJob)> then) {
    const auto id = parse_job_id(call.id);
    if (!id) return call.reply.send(refused({ErrorCode::not_found, "no job has this id", ""}));
    // A runner's token may be for some types of jobs only; of others it learns nothing.
    const WorkerBounds bounds = runner_id.empty() ? WorkerBounds{} : bounds_of(*call.caller);
    const auto question = [id = *id, runner_id, bounds](JobReader& reader) -> Result<FoundJob> {
        auto job = visible_job(reader, id);
        if (!job) return job.error();
        if (!bounds.hold(job->spec)) return not_there();
        const auto lease = lease_of(reader, *job, runner_id);
        return FoundJob{*std::move(job), lease};
    };
    call.app.queries.ask<FoundJob>(
        question, [reply = call.reply, then = std::move(then)](Result<FoundJob> found) {
            if (!found) return reply.send(refused(found.error()));
            then(*std::move(found));
        });
}

void answer_with_stored(const Call& call, JobId id) {
    answer_with_text(
        call, [id, &secrets = call.app.rules.secrets](JobReader& reader) -> Result<std::string> {
            const auto job = visible_job(reader, id);
            if (!job) return job.error();
            return text_with_node(reader, *job, secrets);
        });
}

void answer_with(const Call& call, Job job) {
    answer_with_text(call,
                     [job = std::move(job), &secrets = call.app.rules.secrets](JobReader& reader)
                         -> Result<std::string> { return text_with_node(reader, job, secrets); });
}

void answer_with_outcome(const Call& call, const Result<Job>& job) {
    if (!job) return call.reply.send(refused(job.error()));
    answer_with(call, *job);
}

}  // namespace sluice::http::deploy
