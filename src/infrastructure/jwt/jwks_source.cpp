#include "infrastructure/jwt/jwks_source.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::string_view https = "https://";
constexpr std::string_view http = "http://";

// "127.0.0.1:8080" of "http://127.0.0.1:8080/keys".
std::string_view authority_of(std::string_view url) {
    const std::size_t begin = url.find("://") + 3;
    return url.substr(begin, url.find_first_of("/?#", begin) - begin);
}

bool is_loopback(std::string_view authority) {
    for (const std::string_view host : {"127.0.0.1", "localhost", "[::1]"}) {
        if (!authority.starts_with(host)) continue;
        const std::string_view port = authority.substr(host.size());
        if (port.empty() || port.starts_with(':')) return true;
    }
    return false;
}

bool is_visible_ascii(char c) {
    return c > 0x20 && c < 0x7F;
}

}  // namespace

bool is_jwks_url(std::string_view source) {
    return source.starts_with(https) || source.starts_with(http);
}

std::optional<std::string> problem_with_jwks_source(std::string_view source) {
    if (source.empty()) return "must be a file or an https:// address";
    if (!is_jwks_url(source)) {
        if (source.find("://") == std::string_view::npos) return std::nullopt;
        return "must be a file or an https:// address";
    }
    const std::string_view authority = authority_of(source);
    if (authority.empty() || !std::all_of(source.begin(), source.end(), is_visible_ascii)) {
        return "is not an address";
    }
    if (authority.find_first_of("@\\") != std::string_view::npos) {
        return "must not have a user or a password in its address";
    }
    if (source.starts_with(http) && !is_loopback(authority)) {
        return "must use https: without it, whoever is on the way could put keys of their own "
               "there (http is for this machine only, e.g. http://127.0.0.1:8080/jwks)";
    }
    return std::nullopt;
}

}  // namespace sluice
