#include "interfaces/http/apps/exchange.hpp"

#include <utility>

#include "application/apps/app_contract.hpp"
#include "interfaces/http/apps/entity_json.hpp"
#include "interfaces/http/apps/fields.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::apps {
namespace {

// A path with a part that cannot be an id names nothing.
bool names_nothing(const Call& call) {
    return (!call.param(0).empty() && !is_id(call.param(0))) ||
           (!call.param(1).empty() && !is_id(call.param(1)));
}

Error nothing_there() {
    return {ErrorCode::not_found, "there is nothing at this path: ids have 24 hex digits", ""};
}

Show changed_response(const App& app) {
    return [&secrets = app.rules.secrets](int status, const EntityAnswer& answer) {
        return data(status, [&](JsonWriter& json) { write_answer(json, answer, secrets); });
    };
}

using FindApp = Result<Entity> (*)(JobReader&, const Caller&, const std::string& id);

PiecesInApp in_one_piece(QuestionInApp question) {
    return [question = std::move(question)](JobReader& reader,
                                            const Entity& app) -> Result<StorePiece> {
        auto response = question(reader, app);
        if (!response) return response.error();
        return StorePiece{.response = *std::move(response)};
    };
}

void ask_with_app(Call call, PiecesInApp question, FindApp find) {
    if (names_nothing(call)) {
        return call.reply.send(refusal_of(nothing_there(), call.request.request_id));
    }
    PieceQuestion in_app = [caller = *call.caller, id = std::string(call.param(0)), find,
                            question = std::move(question)](JobReader& reader) {
        const Result<Entity> app = find(reader, caller, id);
        return app ? question(reader, *app) : Result<StorePiece>(app.error());
    };
    answer_from_store(call, std::move(in_app), refusal_of);
}

Result<Entity> find_app_or_project(JobReader& reader, const Caller& caller, const std::string& id) {
    auto app = rules::find_app(reader.entities(), caller, id);
    if (app || app.error().code != ErrorCode::not_found || !caller.is_admin()) return app;
    JobFilter of_project;
    of_project.tenant = caller.tenant;
    of_project.project = id;
    if (reader.list(of_project, newest, 1).empty()) return app;
    Entity project;
    project.key = {caller.tenant, "app", id};
    return project;
}

}  // namespace

void ask_in_app(Call call, QuestionInApp question) {
    list_of_app(std::move(call), in_one_piece(std::move(question)));
}

void list_of_app(Call call, PiecesInApp question) {
    ask_with_app(std::move(call), std::move(question),
                 [](JobReader& reader, const Caller& caller, const std::string& id) {
                     return rules::find_app(reader.entities(), caller, id);
                 });
}

void ask_about_jobs(Call call, QuestionInApp question) {
    ask_with_app(std::move(call), in_one_piece(std::move(question)), find_app_or_project);
}

void list_jobs_of_app(Call call, PiecesInApp question) {
    ask_with_app(std::move(call), std::move(question), find_app_or_project);
}

void change(Call call, std::string_view kind, int status, Result<Attributes> fields,
            Decide decide) {
    Show show = changed_response(call.app);
    change(std::move(call), kind, status, std::move(fields), std::move(decide), std::move(show));
}

void change(Call call, std::string_view kind, int status, Result<Attributes> fields, Decide decide,
            Show show) {
    const std::string& request_id = call.request.request_id;
    if (names_nothing(call)) return call.reply.send(refusal_of(nothing_there(), request_id));
    if (!fields) return call.reply.send(refusal_of(fields.error(), request_id));

    const Wish wish{*call.caller, std::string(call.param(0)), std::string(call.param(1)),
                    *std::move(fields)};
    auto touches = rules::touched_in_app(wish.caller.tenant, wish.app, kind, wish.id, wish.fields);
    const auto decided = [wish, decide = std::move(decide)](EntityChanges& changes) {
        return decide(changes, wish);
    };
    call.app.commands.post_one<EntityAction>(
        {std::move(touches), decided}, [reply = call.reply, &request_id, status,
                                        show = std::move(show)](Result<EntityAnswer> answer) {
            reply.send(answer ? show(status, *answer) : refusal_of(answer.error(), request_id));
        });
}

void act(Call call, std::string_view kind, Action action, int status) {
    auto nothing = read_fields(call.request, {});
    change(std::move(call), kind, status, std::move(nothing),
           [action](EntityChanges& changes, Wish wish) {
               return action(changes, wish.caller, wish.app, wish.id);
           });
}

}  // namespace sluice::http::apps
