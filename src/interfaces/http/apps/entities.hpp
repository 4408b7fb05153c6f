#pragma once

#include <functional>
#include <string_view>

#include "interfaces/http/apps/exchange.hpp"

// Reads the entities of an app, of any kind.
namespace sluice::http::apps {

// Answers with one entity of this kind, by the path's second id.
void get_in_app(Call call, std::string_view kind);

// Answers with a page of all entities of this kind, newest first; ?state= narrows it.
void list_in_app(Call call, std::string_view kind);

// The choice of entities for a list: those that the filter lets through, and that `accepts` takes,
// if it is given. Then all entities that pass the filter are read.
struct Choice {
    EntityFilter filter{};
    std::function<bool(const Entity&)> accepts{};

    // Newest first, below this number, without the first `skipped` of them.
    std::vector<Entity> list(EntityReader& entities, std::int64_t before, std::int64_t skipped,
                             int count) const;
    std::int64_t count(EntityReader& entities) const;

  private:
    void walk(EntityReader& entities, std::int64_t before,
              const std::function<bool(Entity&)>& take) const;
};

// A page of them, in pieces. Entities that are new meanwhile do not shift those that follow the
// first.
using WriteEntity = std::function<void(JsonWriter&, const Entity&)>;
PieceQuestion entity_page(const PageQuery& query, Choice choice, WriteEntity write);

}  // namespace sluice::http::apps
