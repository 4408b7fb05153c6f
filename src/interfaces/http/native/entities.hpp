#pragma once

#include <string_view>

#include "interfaces/http/toolkit/app.hpp"

// Entities whose kind the path names. An empty kind: the request names it.
namespace sluice::http::native {

// `list` is the name of the list in the answer, and stays valid.
void list_of_kind(Call call, std::string_view kind, std::string_view list);
void create_of_kind(Call call, std::string_view kind);
void get_of_kind(Call call, std::string_view kind, std::string_view id);
void reset_of_kind(Call call, std::string_view kind);

}  // namespace sluice::http::native
