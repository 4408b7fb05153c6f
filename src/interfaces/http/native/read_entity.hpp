#pragma once

#include <string>

#include "application/entities/entity_requests.hpp"
#include "application/ports/entity_store.hpp"
#include "interfaces/http/message/url.hpp"
#include "interfaces/http/toolkit/app.hpp"

namespace sluice::http::native {

// The entity that the path names by this kind and id, which are percent-encoded there.
Result<EntityKey> read_entity_key(const Call& call, const QueryParams& params,
                                  std::string_view kind, std::string_view id);

// {kind, id?, parent?, tenant?, attributes?}. When the path names the kind, the body does not.
Result<NewEntity> read_new_entity(const Call& call, std::string_view kind_in_path);

// {action?, attributes?}, at least one of them.
Result<ChangeEntity> read_change(const Call& call, EntityKey key);

struct EntityListQuery {
    EntityFilter filter{};
    std::int64_t before = newest_entity;
    int limit = 50;
    std::string filter_mark{};  // tells cursors of other filters apart
};

Result<EntityListQuery> read_entity_list(const Call& call, std::string_view kind_in_path);

// The cursor of the next page, which follows this entity.
std::string entity_cursor(const EntityListQuery& query, std::int64_t last_number);

}  // namespace sluice::http::native
