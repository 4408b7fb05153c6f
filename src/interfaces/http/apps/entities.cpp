#include "interfaces/http/apps/entities.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interfaces/http/apps/entity_json.hpp"
#include "interfaces/http/native/fields.hpp"

namespace sluice::http::apps {
namespace {

struct ListQuery {
    PageQuery page;
    EntityFilter filter;
};

Result<ListQuery> read_list(const Call& call, std::string_view kind) {
    const auto params = native::read_query(call.request, {"page", "limit", "state"});
    if (!params) return params.error();
    const auto page = read_page(*params);
    if (!page) return page.error();
    ListQuery query{*page, {.kind = std::string(kind)}};
    if (const std::string* state = params->find("state")) {
        const EntityKind* known = call.app.rules.kinds.find(kind);
        const auto states = known ? known->states() : std::vector<std::string>();
        if (std::find(states.begin(), states.end(), *state) == states.end()) {
            return Error{ErrorCode::malformed,
                         fmt::format("\"{}\" is not a state; states are {}", *state,
                                     fmt::join(states, ", ")),
                         ""};
        }
        query.filter.states = {*state};
    }
    return query;
}

}  // namespace

void get_in_app(Call call, std::string_view kind) {
    const auto params = native::read_query(call.request, {});
    if (!params) return call.reply.send(refusal_of(params.error(), call.request.request_id));
    const std::string id(call.second);
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_in_app(std::move(call),
               [kind, id, &secrets](JobReader& reader, const Entity& app) -> Result<Response> {
                   const auto found = rules::find_in_app(reader.entities(), app, kind, id);
                   if (!found) return found.error();
                   return data(200, [&](JsonWriter& json) { write_entity(json, *found, secrets); });
               });
}

void list_in_app(Call call, std::string_view kind) {
    auto query = read_list(call, kind);
    if (!query) return call.reply.send(refusal_of(query.error(), call.request.request_id));
    const SecretMarks& secrets = call.app.rules.secrets;
    ask_in_app(
        std::move(call),
        [query = *std::move(query), &secrets](JobReader& reader,
                                              const Entity& app) -> Result<Response> {
            EntityFilter filter = query.filter;
            filter.tenant = app.key.tenant;
            filter.parent = app.key.id;
            const Page<Entity> page{reader.entities().list(filter, newest_entity,
                                                           query.page.offset(), query.page.limit),
                                    reader.entities().count(filter)};
            return page_response(query.page, page, [&](JsonWriter& json, const Entity& entity) {
                write_entity(json, entity, secrets);
            });
        });
}

Page<Entity> read_chosen(EntityReader& entities, const EntityFilter& filter, const PageQuery& query,
                         const std::function<bool(const Entity&)>& accepts) {
    constexpr int step = 200;
    Page<Entity> page;
    std::int64_t before = newest_entity;
    for (bool more = true; more;) {
        auto some = entities.list(filter, before, 0, step);
        more = static_cast<int>(some.size()) == step;
        for (Entity& entity : some) {
            before = entity.number;
            if (!accepts(entity)) continue;
            const std::int64_t place = page.total++;
            if (place >= query.offset() && place < query.offset() + query.limit) {
                page.items.push_back(std::move(entity));
            }
        }
    }
    return page;
}

}  // namespace sluice::http::apps
