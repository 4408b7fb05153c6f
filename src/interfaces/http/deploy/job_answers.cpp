#include "interfaces/http/deploy/job_answers.hpp"

#include "application/deploy/deploy_jobs.hpp"
#include "application/toolkit/names.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/toolkit/caller.hpp"
#include "interfaces/http/toolkit/store_answer.hpp"

namespace sluice::http::deploy {
namespace {

using sluice::deploy::app_of;

NodeOfApp node_of(JobReader& reader, const Job& job) {
    if (app_of(job).empty()) return std::nullopt;
    return sluice::deploy::node_of_app(reader.entities(), sluice::deploy::app_key(app_of(job)));
}

// A job as a caller looks at it.
struct Look {
    std::string text{};
    std::optional<Job> unplaced{};  // its app is on no node, and there is one for it
};

Result<Look> look_at(JobReader& reader, JobId id, const sluice::deploy::PlacementRules& rules,
                     const Showing& showing) {
    std::optional<Job> job = reader.find_one(id);
    if (!job || !sluice::deploy::is_deploy_job(*job)) return no_such_job(id);
    const NodeOfApp node = node_of(reader, *job);
    const bool has_healthy_node =
        !app_of(*job).empty() && !node && !is_final(job->now.state) &&
        sluice::deploy::has_healthy_node(reader.entities(), rules, showing.now);
    if (has_healthy_node) return Look{.unplaced = std::move(job)};
    return Look{.text = job_text(*job, node, showing)};
}

void answer_placed(const Call& call, const Job& job) {
    const auto decide = [app_id = app_of(job),
                         actor = actor_name(*call.caller)](EntityChanges& changes) {
        changes.act_as(actor);
        return sluice::deploy::place_app(changes, app_id);
    };
    call.app.commands.post_one<EntityAction>(
        {{sluice::deploy::app_key(app_of(job))}, decide},
        [call, job](const Result<EntityAnswer>& placed) {
            if (!placed) return call.reply.send(refused(placed.error()));
            NodeOfApp node;
            if (!placed->others.empty()) node = to_node(placed->others.front());
            call.reply.send(success(job_text(job, node, showing_to(call))));
        });
}

}  // namespace

CancelJob cancel_of(JobId id, std::string reason, const Caller& caller) {
    return {.job = id,
            .tenant = EntityKey{}.tenant,
            .reason = std::move(reason),
            .actor = actor_name(caller),
            .is_admin = caller.is_admin(),
            .queue = sluice::deploy::queue};
}

Showing showing_to(const Call& call) {
    return {
        .secrets = call.app.rules.secrets,
        .now = call.app.clock.now(),
        .node_memory = call.app.rules.settings.get<sluice::deploy::PlacementRules>().node_memory};
}

Response refusal_of(const Error& error, std::string_view) {
    return refused(error);
}

void answer_with_text(const Call& call, std::function<Result<std::string>(JobReader&)> question) {
    const auto in_envelope = [question =
                                  std::move(question)](JobReader& reader) -> Result<StorePiece> {
        const auto text = question(reader);
        if (!text) return text.error();
        return StorePiece{.response = success(*text)};
    };
    answer_from_store(call, in_envelope, refusal_of);
}

void each_job(JobReader& reader, const JobFilter& filter, int most,
              const std::function<void(const Job&)>& visit) {
    JobId before = newest;
    for (int left = most; left > 0;) {
        const std::vector<Job> jobs = reader.list(filter, before, {left, page_bytes});
        if (jobs.empty()) return;
        for (const Job& job : jobs) visit(job);
        left -= static_cast<int>(jobs.size());
        before = jobs.back().spec->id;
    }
}

void answer_with_looked_at(const Call& call) {
    const auto id = job_id_in_path(call);
    if (!id) return call.reply.send(refused(id.error()));
    const auto question = [id = *id,
                           rules = call.app.rules.settings.get<sluice::deploy::PlacementRules>(),
                           showing = showing_to(call)](JobReader& reader) {
        return look_at(reader, id, rules, showing);
    };
    call.app.queries.ask<Look>(question, [call](const Result<Look>& look) {
        if (!look) return call.reply.send(refused(look.error()));
        if (look->unplaced) return answer_placed(call, *look->unplaced);
        call.reply.send(success(look->text));
    });
}

void with_text(const Call& call, Job job, Showing showing,
               std::function<void(const Result<std::string>&)> then) {
    const auto question = [job = std::move(job), showing](JobReader& reader) {
        return Result<std::string>(job_text(job, node_of(reader, job), showing));
    };
    call.app.queries.ask<std::string>(question, std::move(then));
}

void answer_with(const Call& call, Job job) {
    with_text(call, std::move(job), showing_to(call), [call](const Result<std::string>& text) {
        call.reply.send(text ? success(*text) : refused(text.error()));
    });
}

void answer_with_outcome(const Call& call, const Result<Job>& job) {
    if (!job) return call.reply.send(refused(job.error()));
    answer_with(call, *job);
}

void refuse_with(const Call& call, Job job, std::string message) {
    with_text(call, std::move(job), showing_to(call),
              [call, message = std::move(message)](const Result<std::string>& text) {
                  call.reply.send(refused_with(409, message, text ? *text : "null"));
              });
}

}  // namespace sluice::http::deploy
