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

// A page of those that the filter and `accepts` let through. Walks over all that the filter does.
Page<Entity> read_chosen(EntityReader& entities, const EntityFilter& filter, const PageQuery& query,
                         const std::function<bool(const Entity&)>& accepts);

}  // namespace sluice::http::apps
