#include "interfaces/http/apps/entities.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interfaces/http/apps/entity_json.hpp"
#include "interfaces/http/requests/fields.hpp"
#include "interfaces/http/requests/pages.hpp"

namespace sluice::http::apps {
namespace {

struct ListQuery {
    PageQuery page;
    EntityFilter filter;
};

Result<ListQuery> read_list(const Call& call, std::string_view kind) {
    const auto params = read_query(call.request, {"page", "limit", "state"});
    if (!params) return params.error();
    const auto page = read_page_query(*params);
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
    const auto params = read_query(call.request, {});
    if (!params) return call.reply.send(refusal_of(params.error(), call.request.request_id));
    const std::string id(call.param(1));
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
    list_of_app(std::move(call),
                [query = *std::move(query), &secrets](JobReader& reader, const Entity& app) {
                    EntityFilter filter = query.filter;
                    filter.tenant = app.key.tenant;
                    filter.parent = app.key.id;
                    const auto write = [&secrets](JsonWriter& json, const Entity& entity) {
                        write_entity(json, entity, secrets);
                    };
                    return entity_page(query.page, {.filter = filter}, write)(reader);
                });
}

PieceQuestion entity_page(const PageQuery& query, Choice choice, WriteEntity write) {
    const auto fetch = [choice, offset = query.offset()](JobReader& reader, std::int64_t before,
                                                         int count) {
        const std::int64_t skipped = before == newest_entity ? offset : 0;
        return choice.list(reader.entities(), before, skipped, count);
    };
    const auto end = [choice, query](JobReader& reader, std::int64_t) {
        return page_end(query, choice.count(reader.entities()));
    };
    NumberedPage<decltype(fetch), WriteEntity, decltype(end)> page{
        std::string(page_begin), fetch, std::move(write), end, newest_entity, query.limit};
    page.bytes_left = SIZE_MAX;  // pages are numbered, so that none can end early
    return page;
}

std::vector<Entity> Choice::list(EntityReader& entities, std::int64_t before, std::int64_t skipped,
                                 int count) const {
    if (!accepts) return entities.list(filter, before, skipped, count);
    std::vector<Entity> chosen;
    walk(entities, before, [&](Entity& entity) {
        if (skipped-- <= 0) chosen.push_back(std::move(entity));
        return std::ssize(chosen) < count;
    });
    return chosen;
}

std::int64_t Choice::count(EntityReader& entities) const {
    if (!accepts) return entities.count(filter);
    std::int64_t total = 0;
    walk(entities, newest_entity, [&](Entity&) { return ++total > 0; });
    return total;
}

// Calls `take` with each chosen entity, as long as it wants more.
void Choice::walk(EntityReader& entities, std::int64_t before,
                  const std::function<bool(Entity&)>& take) const {
    constexpr int step = 32;  // they may be large
    for (bool more = true; more;) {
        auto some = entities.list(filter, before, 0, step);
        more = static_cast<int>(some.size()) == step;
        for (Entity& entity : some) {
            before = entity.number;
            if (accepts(entity) && !take(entity)) return;
        }
    }
}

}  // namespace sluice::http::apps
