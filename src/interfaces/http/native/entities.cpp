// Entities of any kind: what jobs are about. Sites, environments and nodes have paths of their own,
// which say the kind.
#include "interfaces/http/native/entities.hpp"

#include <fmt/format.h>

#include "interfaces/http/answers.hpp"
#include "interfaces/http/caller.hpp"
#include "interfaces/http/native/entity_json.hpp"
#include "interfaces/http/native/fields.hpp"
#include "interfaces/http/native/handlers.hpp"
#include "interfaces/http/native/pages.hpp"
#include "interfaces/http/native/read_entity.hpp"

namespace sluice::http::native {
namespace {

void refuse(const Call& call, const Error& error) {
    call.reply.send(problem_of(error, call.request.request_id));
}

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

// Answers a question about one entity, with what `question` makes.
void ask_about_entity(Call call, EntityKey key,
                      std::function<Result<StorePiece>(JobReader&, const Entity&)> question) {
    const auto with_entity = [key = std::move(key), question = std::move(question)](
                                 JobReader& reader) -> Result<StorePiece> {
        const auto entity = reader.entities().find_one(key);
        if (!entity) return Error{ErrorCode::not_found, "there is no " + to_text(key), ""};
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
void post_change(Call call, EntityKey key, std::function<Result<EntityAnswer>(EntityDesk&)> decide,
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
    const auto decide = [caller = *call.caller, change = std::move(change)](EntityDesk& desk) {
        return change_entity(desk, caller, change);
    };
    const auto answer = changed_response(call.app);
    post_change(std::move(call), std::move(key), decide, answer);
}

std::string percent_encoded(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                              (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
        if (is_plain) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

}  // namespace

void list_of_kind(Call call, std::string_view kind, std::string_view list) {
    const auto query = read_entity_list(call, kind);
    if (!query) return refuse(call, query.error());
    answer_from_store(call, entity_page(list, *query, call.app.rules.secrets));
}

void create_of_kind(Call call, std::string_view kind) {
    auto wanted = read_new_entity(call, kind);
    if (!wanted) return refuse(call, wanted.error());
    EntityKey touched = wanted->key;
    const auto decide = [caller = *call.caller, wanted = *std::move(wanted)](EntityDesk& desk) {
        return create_entity(desk, caller, wanted);
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
    if (!params) return refuse(call, params.error());
    auto key = read_entity_key(call, *params, kind, id);
    if (!key) return refuse(call, key.error());
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_about_entity(std::move(call), *std::move(key),
                     [&secrets](JobReader&, const Entity& entity) -> Result<StorePiece> {
                         return json_piece(entity_text(entity, secrets));
                     });
}

void reset_of_kind(Call call, std::string_view kind) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return refuse(call, params.error());
    auto key = read_entity_key(call, *params, kind, call.id);
    if (!key) return refuse(call, key.error());
    JsonReader reader(body_or_empty_object(call.request));
    UnknownFields unknown;
    reader.object([&](std::string_view name) { unknown.add(name); });
    unknown.refuse(reader);
    if (const auto done = reader.finish(); !done) return refuse(call, done.error());
    post_change(std::move(call), {.key = *std::move(key), .action = "reset"});
}

void list_entities(Call call) {
    list_of_kind(std::move(call), "", "entities");
}

void create_entity(Call call) {
    create_of_kind(std::move(call), "");
}

void get_entity(Call call) {
    const std::string_view kind = call.id, id = call.second;
    get_of_kind(std::move(call), kind, id);
}

void change_entity(Call call) {
    const auto params = read_query(call.request, {"tenant"});
    if (!params) return refuse(call, params.error());
    auto key = read_entity_key(call, *params, call.id, call.second);
    if (!key) return refuse(call, key.error());
    auto change = read_change(call, *std::move(key));
    if (!change) return refuse(call, change.error());
    post_change(std::move(call), *std::move(change));
}

void get_entity_events(Call call) {
    const auto params = read_query(call.request, {"after", "limit", "tenant"});
    if (!params) return refuse(call, params.error());
    const auto page = read_page(*params);
    if (!page) return refuse(call, page.error());
    auto key = read_entity_key(call, *params, call.id, call.second);
    if (!key) return refuse(call, key.error());
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_about_entity(std::move(call), *std::move(key),
                     [page = *page, &secrets](JobReader& reader, const Entity& entity) {
                         return entity_event_page(entity.key, page, secrets)(reader);
                     });
}

}  // namespace sluice::http::native
