#include "main/config_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::optional<HostAndPort> parse_listen(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    const auto port = parse_integer(text.substr(colon + 1));
    if (!port || *port < 0 || *port > std::numeric_limits<std::uint16_t>::max())
        return std::nullopt;
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        return std::nullopt;  // an IPv6 address needs brackets to tell its end from the port
    }
    if (host.empty()) return std::nullopt;
    return HostAndPort{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string address_text(const std::string& host, std::uint16_t port) {
    if (host.find(':') == std::string::npos) return fmt::format("{}:{}", host, port);
    return fmt::format("[{}]:{}", host, port);
}

std::string url_text(const http::ServerOptions& options, const std::string& host,
                     std::uint16_t port) {
    return (options.tls.is_given() ? "https://" : "http://") + address_text(host, port);
}

std::optional<bool> parse_flag(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
    for (const char* yes : {"true", "1", "yes", "on"}) {
        if (lower == yes) return true;
    }
    for (const char* no : {"false", "0", "no", "off"}) {
        if (lower == no) return false;
    }
    return std::nullopt;
}

}  // namespace sluice
