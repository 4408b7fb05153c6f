#include "interfaces/http/deploy/job_answers.hpp"

#include <memory>

#include "application/deploy/deploy_jobs.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/deploy/envelope.hpp"
#include "interfaces/http/store_answer.hpp"

namespace sluice::http::deploy {
namespace {

using sluice::deploy::app_of;

// A job as somebody looks at it.
struct Look {
    Job job;
    Place place{};
    bool has_place = false;  // its app is on no node, and there is one for it
};

Result<Look> look_at(JobReader& reader, JobId id, const sluice::deploy::PlacementRules& rules,
                     Timestamp now) {
    std::optional<Job> job = reader.find_one(id);
    if (!job || !sluice::deploy::is_deploy_job(*job)) return no_such_job();
    Look look{.job = *std::move(job)};
    if (app_of(look.job).empty()) return look;
    const EntityKey app = sluice::deploy::app_key(app_of(look.job));
    look.place = sluice::deploy::node_of_app(reader.entities(), app);
    look.has_place = !look.place && !is_final(look.job.now.state) &&
                     sluice::deploy::has_place(reader.entities(), rules, now);
    return look;
}

void answer_placed(const Call& call, const Job& job) {
    const auto decide = [app_id = app_of(job), actor = actor_name(*call.caller)](EntityDesk& desk) {
        desk.act_as(actor);
        return sluice::deploy::place_app(desk, app_id);
    };
    call.app.commands.post_one<EntityAction>(
        {{sluice::deploy::app_key(app_of(job))}, decide},
        [call, job](const Result<EntityAnswer>& placed) {
            if (!placed) return call.reply.send(refused(placed.error()));
            Place place;
            if (!placed->others.empty()) place = to_node(placed->others.front());
            call.reply.send(success(job_text(job, place, showing_to(call))));
        });
}

}  // namespace

Error no_such_job() {
    return {ErrorCode::not_found, "no job has this id", ""};
}

Result<JobId> job_in_path(const Call& call) {
    const auto id = parse_job_id(call.id);
    if (!id) return no_such_job();
    return *id;
}

CancelJob cancel_of(JobId id, std::string reason, const Caller& caller) {
    return {.job = id,
            .tenant = EntityKey{}.tenant,
            .reason = std::move(reason),
            .actor = actor_name(caller),
            .is_admin = caller.is_admin(),
            .queue = sluice::deploy::queue};
}

Showing showing_to(const Call& call) {
    return {.secrets = call.app.rules.secrets,
            .now = call.app.clock.now(),
            .node_memory = call.app.rules.placement.node_memory};
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

void answer_with_looked_at(const Call& call) {
    const auto id = job_in_path(call);
    if (!id) return call.reply.send(refused(id.error()));
    const auto question = [id = *id, rules = call.app.rules.placement, now = call.app.clock.now()](
                              JobReader& reader) { return look_at(reader, id, rules, now); };
    call.app.queries.ask<Look>(question, [call](const Result<Look>& look) {
        if (!look) return call.reply.send(refused(look.error()));
        if (look->has_place) return answer_placed(call, look->job);
        call.reply.send(success(job_text(look->job, look->place, showing_to(call))));
    });
}

void with_place(const Call& call, const Job& job, std::function<void(Result<Place>)> then) {
    if (app_of(job).empty()) return then(Place{});
    const auto question = [app = sluice::deploy::app_key(app_of(job))](JobReader& reader) {
        return Result<Place>(sluice::deploy::node_of_app(reader.entities(), app));
    };
    call.app.queries.ask<Place>(question, std::move(then));
}

void answer_with(const Call& call, Job job) {
    const auto kept = std::make_shared<const Job>(std::move(job));
    with_place(call, *kept, [call, kept](const Result<Place>& place) {
        if (!place) return call.reply.send(refused(place.error()));
        call.reply.send(success(job_text(*kept, *place, showing_to(call))));
    });
}

void answer_with_outcome(const Call& call, const Result<Job>& job) {
    if (!job) return call.reply.send(refused(job.error()));
    answer_with(call, *job);
}

void refuse_with(const Call& call, Job job, std::string message) {
    const auto kept = std::make_shared<const Job>(std::move(job));
    with_place(call, *kept, [call, kept, message = std::move(message)](const Result<Place>& place) {
        const std::string data = job_text(*kept, place ? *place : Place{}, showing_to(call));
        call.reply.send(refused_with(409, message, data));
    });
}

}  // namespace sluice::http::deploy
