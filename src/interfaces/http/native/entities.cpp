// Entities of any kind: the subjects of jobs. Sites, environments and nodes have paths of their
// own, which name the kind.
#include "interfaces/http/native/entities.hpp"

#include <fmt/format.h>

#include "domain/values/percent_encoding.hpp"
#include "interfaces/http/native/entity_json.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/read_entity.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/pages.hpp"
#include "interfaces/http/toolkit/answers.hpp"
#include "interfaces/http/toolkit/caller.hpp"

namespace sluice::http::native {
namespace {

PieceQuestion entity_page(std::string_view list, const EntityListQuery& query,
                          const SecretMarks& secrets) {
    const auto fetch = [filter = query.filter](JobReader& reader, std::int64_t before, int count) {
        return reader.entities().list(filter, before, 0, count);
    };
    const auto write = [&secrets](JsonWriter& json, const Entity& entity) {
        write_entity(json, entity, secrets);
    };
    const auto end = [query](JobReader& reader, std::int64_t last) -> std::string {
        const bool more = !reader.entities().list(query.filter, last, 0, 1).empty();
        if (!more) return R"(],"next_cursor":null})";
        return fmt::format(R"(],"next_cursor":"{}"}})", entity_cursor(query, last));
    };
    return NumberedPage<decltype(fetch), decltype(write), decltype(end)>{
        fmt::format("{{\"{}\":[", list), fetch, write, end, query.before, query.limit};
}

// Answers a question about one entity, with the result of `question`.
void ask_about_entity(Call call, EntityKey key,
                      std::function<Result<StorePiece>(JobReader&, const Entity&)> question) {
    const auto with_entity = [&kinds = call.app.rules.kinds, key = std::move(key),
                              question =
                                  std::move(question)](JobReader& reader) -> Result<StorePiece> {
        const auto entity = reader.entities().find_one(key);
        if (!entity) return no_such_entity(kinds, key);
        return question(reader, *entity);
    };
    answer_from_store(call, with_entity);
}

PieceQuestion entity_event_page(const EntityKey& key, Page page, const SecretMarks& secrets) {
    const auto fetch = [key](JobReader& reader, std::int64_t after, int count) {
        return reader.entities().events(key, after, count);
    };
    const auto write = [&secrets](JsonWriter& json, const EntityEvent& event) {
        write_entity_event(json, event, secrets);
    };
    return numbered_page("events", "next_after", page, fetch, write);
}

// Posts a change of the entity of this key and answers with the entity after it.
void post_change(Call call, EntityKey key,
                 std::function<Result<EntityAnswer>(EntityChanges&)> decide,
                 std::function<Response(const EntityAnswer&)> answer) {
    call.app.commands.post_one<EntityAction>(
        {{std::move(key)}, std::move(decide)},
        [reply = call.reply, &request_id = call.request.request_id,
         answer = std::move(answer)](Result<EntityAnswer> changed) {
            reply.send(changed ? answer(*changed) : problem_of(changed.error(), request_id));
        });
}

auto changed_response(const App& app) {
    return [&secrets = app.rules.secrets](const EntityAnswer& answer) {
        return json(200, changed_entity_text(answer, secrets));
    };
}

void post_change(Call call, ChangeEntity change) {
    EntityKey key = change.key;
    const auto decide = [caller = *call.caller,
                         change = std::move(change)](EntityChanges& changes) {
        return change_entity(changes, caller, change);
    };
    const auto answer = changed_response(call.app);
    post_change(std::move(call), std::move(key), decide, answer);
}

}  // namespace

void list_of_kind(Call call, std::string_view kind, std::string_view list) {
    const auto query = read_entity_list(call, kind);
    if (!query) return send_refusal(call, query.error());
    const auto page = [&kinds = call.app.rules.kinds, filter = query->filter,
                       ask = entity_page(list, *query, call.app.rules.secrets)](
                          JobReader& reader) -> Result<StorePiece> {
        const std::string wrong = wrong_kind(kinds, filter.kind);
        // Entities of a kind that is no longer declared are shown.
        if (wrong.empty() || reader.entities().count(filter) > 0) return ask(reader);
        return Error{ErrorCode::invalid, wrong, ""};
    };
    answer_from_store(call, page);
}

void create_of_kind(Call call, std::string_view kind) {
    auto wanted = read_new_entity(call, kind);
    if (!wanted) return send_refusal(call, wanted.error());
    EntityKey touched = wanted->key;
    const auto decide = [caller = *call.caller,
                         wanted = *std::move(wanted)](EntityChanges& changes) {
        return create_entity(changes, caller, wanted);
    };
    const SecretMarks& secrets = call.app.rules.secrets;
    post_change(std::move(call), std::move(touched), decide,
                [&secrets](const EntityAnswer& answer) {
                    Response response = json(201, changed_entity_text(answer, secrets));
                    const EntityKey& key = answer.entity->key;
                    response.headers.emplace_back(
                        "Location", fmt::format("/api/v1/entities/{}/{}", percent_encoded(key.kind),
                                                percent_encoded(key.id)));
                    return response;
                });
}

void get_of_kind(Call call, std::string_view kind, std::string_view id) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    auto key = read_entity_key(call, *params, kind, id);
    if (!key) return send_refusal(call, key.error());
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_about_entity(std::move(call), *std::move(key),
                     [&secrets](JobReader&, const Entity& entity) -> Result<StorePiece> {
                         return json_piece(entity_text(entity, secrets));
                     });
}

void reset_of_kind(Call call, std::string_view kind) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    auto key = read_entity_key(call, *params, kind, call.param(0));
    if (!key) return send_refusal(call, key.error());
    JsonReader reader = body_reader(call.request);
    UnknownFields unknown;
    reader.object([&](std::string_view name) { unknown.add(name); });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return send_refusal(call, done.error());
    post_change(std::move(call), {.key = *std::move(key), .action = "reset"});
}

void list_entities(Call call) {
    list_of_kind(std::move(call), "", "entities");
}

void create_entity(Call call) {
    create_of_kind(std::move(call), "");
}

void get_entity(Call call) {
    const std::string_view kind = call.param(0), id = call.param(1);
    get_of_kind(std::move(call), kind, id);
}

void change_entity(Call call) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return send_refusal(call, params.error());
    auto key = read_entity_key(call, *params, call.param(0), call.param(1));
    if (!key) return send_refusal(call, key.error());
    auto change = read_change(call, *std::move(key));
    if (!change) return send_refusal(call, change.error());
    post_change(std::move(call), *std::move(change));
}

void get_entity_events(Call call) {
    const auto params = read_query(call.request, {"after", "limit", "tenant"});
    if (!params) return send_refusal(call, params.error());
    const auto page = read_page(*params);
    if (!page) return send_refusal(call, page.error());
    auto key = read_entity_key(call, *params, call.param(0), call.param(1));
    if (!key) return send_refusal(call, key.error());
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_about_entity(std::move(call), *std::move(key),
                     [page = *page, &secrets](JobReader& reader, const Entity& entity) {
                         return entity_event_page(entity.key, page, secrets)(reader);
                     });
}

}  // namespace sluice::http::native
