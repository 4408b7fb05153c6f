#include "interfaces/worker/executors/url_text.hpp"

#include <algorithm>

#include "client/link/endpoint.hpp"
#include "domain/values/ascii.hpp"
#include "sluice/error.hpp"

namespace sluice::worker {
namespace {

struct Parts {
    std::string_view scheme{};  // with "://"
    std::string_view user{};    // without "@"
    std::string_view host{};    // with the port
    std::string_view path{};
};

// Ends the authority where libcurl does, which takes a backslash for a part of it.
Parts split(std::string_view url) {
    Parts parts;
    if (const std::size_t end = url.find("://");
        end != std::string_view::npos && end < url.find_first_of("@/?#")) {
        parts.scheme = url.substr(0, end + 3);
        url.remove_prefix(end + 3);
    }
    std::string_view authority = url.substr(0, url.find_first_of("/?#"));
    url.remove_prefix(authority.size());
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
        parts.user = authority.substr(0, at);
        authority.remove_prefix(at + 1);
    }
    parts.host = authority;
    parts.path = url.substr(0, url.find_first_of("?#"));
    return parts;
}

}  // namespace

std::string shown_url(std::string_view url) {
    const Parts parts = split(url);
    std::string shown(parts.scheme);
    // A password with a character that ends the authority reaches into what looks like the path.
    const std::size_t last_at = url.rfind('@');
    const bool is_doubtful = last_at != std::string_view::npos &&
                             url.data() + last_at >= parts.path.data() && origin(url).empty();
    if (is_doubtful) return shown.append("(hidden)");
    return shown.append(parts.host).append(parts.path);
}

std::string origin(std::string_view url) {
    try {
        return lowered(client::parse_endpoint(std::string(url)).shown);
    } catch (const client::Error&) {
        return {};
    }
}

bool is_misleading(std::string_view url) {
    return std::any_of(url.begin(), url.end(), [](char c) {
        return c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    });
}

std::string_view user_of(std::string_view url) {
    return split(url).user;
}

std::string with_user(std::string_view url, std::string_view user) {
    const Parts parts = split(url);
    if (user.empty() || !parts.user.empty()) return std::string(url);
    std::string full(parts.scheme);
    return full.append(user).append("@").append(url.substr(parts.scheme.size()));
}

bool is_secure(std::string_view url) {
    return lowered(split(url).scheme) == "https://";
}

}  // namespace sluice::worker
