#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "domain/values/duration_text.hpp"
#include "domain/values/suggestion.hpp"

// The values of the configuration as text, in files, environment and flags alike.
namespace sluice {

// Each value with its name.
template <class T>
using Names = std::vector<std::pair<std::string, T>>;

template <class T>
std::vector<std::string> names_of(const Names<T>& names) {
    std::vector<std::string> out;
    for (const auto& [name, value] : names) out.push_back(name);
    return out;
}

template <class T>
std::string name_of(const Names<T>& names, const T& wanted) {
    for (const auto& [name, value] : names) {
        if (value == wanted) return name;
    }
    return {};
}

// For errors: "a", "b" or "c".
std::string one_of(const std::vector<std::string>& names);

struct HostAndPort {
    std::string host{};
    std::uint16_t port = 0;
};

// "127.0.0.1:7070", "localhost:0", "[::1]:7070".
inline constexpr const char* listen_form =
    "an address such as \"127.0.0.1:7070\" or \"[::1]:7070\"";
Result<HostAndPort> parse_listen(std::string_view text);  // its error says which part is wrong

// The same the other way round.
std::string address_text(const std::string& host, std::uint16_t port);

// The address at which clients reach a server with these options.
std::string url_text(const http::ServerOptions& options, const std::string& host,
                     std::uint16_t port);

// "100/s", "600/min" or "1000/h"; "0" for no limit.
inline constexpr const char* rate_form =
    "a rate such as \"100/s\", \"600/min\" or \"1000/h\", or \"0\"";
std::optional<http::CallerLimits::Rate> parse_rate(std::string_view text);
std::string rate_text(const http::CallerLimits::Rate& rate);

// The bytes of the file, or the system's reason why it cannot be read.
Result<std::string> read_bytes(const std::string& path);

// true, 1, yes, on, or false, 0, no, off, in any case.
std::optional<bool> parse_flag(std::string_view text);

}  // namespace sluice
