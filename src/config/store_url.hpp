#pragma once

#include <string>
#include <string_view>

// The parts of a store's URL, as text.
namespace sluice {

inline constexpr std::string_view sqlite_scheme = "sqlite:";
inline constexpr const char* postgres_form = "an address such as \"postgres://HOST:5432/DATABASE\"";

bool is_postgres(std::string_view url);

// The URL for logs and messages: without the user, the password and the query, which may hold
// secrets.
std::string shown_store(std::string_view url);

}  // namespace sluice
