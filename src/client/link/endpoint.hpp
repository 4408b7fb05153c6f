#pragma once

#include <string>
#include <string_view>

namespace sluice::client {

// The endpoint of a URL.
struct Endpoint {
    std::string host{};   // as the URL has it: [::1] keeps its brackets
    std::string shown{};  // scheme, host and port, for people: no user, no path, no query

    bool is_this_machine() const;  // by its name, without a lookup
};

// Throws Error (usage, "bad_url") unless this is an address that begins with http:// or https://.
Endpoint parse_endpoint(const std::string& url);

}  // namespace sluice::client
