#include "config/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "domain/values/ascii.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using Rate = http::CallerLimits::Rate;

constexpr std::int64_t requests_max = 1'000'000;

}  // namespace

std::string one_of(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
        out += '"' + names[i] + '"';
    }
    return out;
}

Result<HostAndPort> parse_listen(std::string_view text) {
    const auto problem = [](const char* what) { return Error{ErrorCode::invalid, what, ""}; };
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return problem("the port is missing");
    std::string_view host = text.substr(0, colon);
    const auto port = parse_integer(text.substr(colon + 1));
    if (!port || *port < 0 || *port > std::numeric_limits<std::uint16_t>::max()) {
        return problem("the port must be 0 to 65535");
    }
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        return problem("an IPv6 address needs brackets");  // which tell its end from the port
    }
    if (host.empty()) return problem("the host is missing");
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

Result<std::string> read_bytes(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (std::filesystem::is_directory(path)) {
        errno = EISDIR;
    } else if (file.is_open()) {
        std::string bytes{std::istreambuf_iterator<char>(file), {}};
        if (!file.bad()) return bytes;
    }
    return Error{ErrorCode::unavailable, std::strerror(errno == 0 ? EIO : errno), ""};
}

std::optional<bool> parse_flag(std::string_view text) {
    const std::string lower = lowered(text);
    for (const char* yes : {"true", "1", "yes", "on"}) {
        if (lower == yes) return true;
    }
    for (const char* no : {"false", "0", "no", "off"}) {
        if (lower == no) return false;
    }
    return std::nullopt;
}

std::optional<Rate> parse_rate(std::string_view text) {
    if (text == "0") return Rate{};
    const std::size_t slash = text.find('/');
    const auto requests = parse_integer(text.substr(0, slash));
    if (!requests || *requests < 1 || *requests > requests_max || slash == text.npos) {
        return std::nullopt;
    }
    const std::string_view unit = text.substr(slash + 1);
    if (unit == "s") return Rate{*requests, 1s};
    if (unit == "min") return Rate{*requests, 1min};
    if (unit == "h") return Rate{*requests, 1h};
    return std::nullopt;
}

std::string rate_text(const Rate& rate) {
    if (rate.requests == 0) return "0";
    const char* unit = rate.window == Duration(1s)     ? "s"
                       : rate.window == Duration(1min) ? "min"
                                                       : "h";
    return fmt::format("{}/{}", rate.requests, unit);
}

}  // namespace sluice
