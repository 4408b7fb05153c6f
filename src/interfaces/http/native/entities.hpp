#pragma once

#include <string_view>

#include "interfaces/http/app.hpp"

// Entities whose kind the path says by itself. An empty kind: the request says it.
namespace sluice::http::native {

// `list` is what the list is called in the answer, and stays valid.
void list_of_kind(Call call, std::string_view kind, std::string_view list);
void create_of_kind(Call call, std::string_view kind);
void get_of_kind(Call call, std::string_view kind, std::string_view id);
void reset_of_kind(Call call, std::string_view kind);

}  // namespace sluice::http::native
