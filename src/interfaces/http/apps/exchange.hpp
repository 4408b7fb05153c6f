#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "application/apps/app_access.hpp"
#include "application/ports/commands.hpp"
#include "interfaces/http/apps/envelope.hpp"
#include "interfaces/http/toolkit/app.hpp"
#include "interfaces/http/toolkit/store_answer.hpp"

// The common work of all handlers of this contract: to ask or change, for a caller, in the app of
// the path.
namespace sluice::http::apps {

namespace rules = sluice::apps;

// Runs on a thread for questions.
using QuestionInApp = std::function<Result<Response>(JobReader&, const Entity& app)>;

using PiecesInApp = std::function<Result<StorePiece>(JobReader&, const Entity& app)>;

// Answers with the result of the question about the app in the path, of which the caller must be a
// member.
void ask_in_app(Call call, QuestionInApp question);

// The same with an answer that may be large.
void list_of_app(Call call, PiecesInApp question);

// The same about its jobs. Admins may also ask about the jobs of a project that is no app here.
void ask_about_jobs(Call call, QuestionInApp question);

// The same with an answer that may be large.
void list_jobs_of_app(Call call, PiecesInApp question);

// A change that a caller asks for, by the path and the body.
struct Wish {
    Caller caller;
    std::string app;
    std::string id;  // of the entity in the app, if the path names one
    Attributes fields;
};

// Runs on a committing thread, and maybe again.
using Decide = std::function<Result<EntityAnswer>(EntityChanges&, Wish)>;
using Show = std::function<Response(int status, const EntityAnswer&)>;

// Has it decided, and answers with the entity and the jobs that were enqueued for it, or as `show`
// says. `kind` is the kind of the entity that the path names in the app, or empty when it names the
// app alone. A body that could not be read is refused.
void change(Call call, std::string_view kind, int status, Result<Attributes> fields, Decide decide);
void change(Call call, std::string_view kind, int status, Result<Attributes> fields, Decide decide,
            Show show);

// An action that its path alone describes.
using Action = Result<EntityAnswer> (*)(EntityChanges&, const Caller&, const std::string& app,
                                        const std::string& id);
void act(Call call, std::string_view kind, Action action, int status = 200);

}  // namespace sluice::http::apps
