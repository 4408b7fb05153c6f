#pragma once

#include <string>
#include <string_view>

// Parts of an http URL as text. They do not check it: of a text that is no URL, the safe part is
// shown.
namespace sluice::worker {

// Without user, password, query and fragment, which may hold secrets.
std::string shown_url(std::string_view url);

// Scheme, host and port, in lower case, as the HTTP library reads them: headers that are meant for
// one service may be sent there. Empty when this is no http address.
std::string origin(std::string_view url);

// Whether it has a backslash or control characters, which programs read in different ways.
bool is_misleading(std::string_view url);

// "user:password", or nothing.
std::string_view user_of(std::string_view url);

// The URL with this user, unless it has one.
std::string with_user(std::string_view url, std::string_view user);

bool is_secure(std::string_view url);

}  // namespace sluice::worker
