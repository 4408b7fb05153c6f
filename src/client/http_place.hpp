#pragma once

#include <string>
#include <string_view>

namespace sluice::client {

// Where an URL leads.
struct HttpPlace {
    std::string host{};   // as the URL has it: [::1] keeps its brackets
    std::string shown{};  // scheme, host and port, for people: no user, no path, no query

    bool is_this_machine() const;  // by its name, without asking anyone
};

// Throws Error (usage, "bad_url") unless this is an address that begins with http:// or https://.
HttpPlace read_place(const std::string& url);

// A text as one part of a path or query.
std::string url_encoded(std::string_view text);

}  // namespace sluice::client
