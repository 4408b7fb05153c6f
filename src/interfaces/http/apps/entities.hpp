#pragma once

#include <functional>
#include <string_view>

#include "interfaces/http/apps/exchange.hpp"

// Reading what belongs to an app, whatever its kind.
namespace sluice::http::apps {

// One of this kind, by the path's second id.
void get_in_app(Call call, std::string_view kind);

// A page of all of this kind, newest first; ?state= narrows it.
void list_in_app(Call call, std::string_view kind);

// Which entities a list shows: those that the filter lets through, and `accepts`, if it is given.
// That walks over all that the filter does.
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

// A page of them, in pieces. What is new meanwhile does not shift those that follow the first.
using WriteEntity = std::function<void(JsonWriter&, const Entity&)>;
PieceQuestion entity_page(const PageQuery& query, Choice choice, WriteEntity write);

}  // namespace sluice::http::apps
