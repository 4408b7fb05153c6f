#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/duration_text.hpp"
#include "domain/suggestion.hpp"
#include "main/config.hpp"

// How the values of the configuration are written as text, in files, environment and flags alike.
namespace sluice {

inline constexpr int node_max = 1023;
inline constexpr int committers_max = 8;
inline constexpr int store_reserve_max = 1 << 30;  // bytes
inline constexpr Duration retention_max = std::chrono::hours(24 * 36500);
inline constexpr const char* retention_form =
    "a duration such as \"30d\", or \"0s\" to keep jobs for ever";

// Each value with its name.
template <class T>
using Names = std::vector<std::pair<std::string, T>>;

inline const Names<log::Level> log_levels{{"debug", log::Level::debug},
                                          {"info", log::Level::info},
                                          {"warn", log::Level::warn},
                                          {"error", log::Level::error}};
inline const Names<LogFormat> log_formats{
    {"auto", LogFormat::automatic}, {"json", LogFormat::json}, {"text", LogFormat::text}};

template <class T>
std::optional<T> find_name(const Names<T>& names, std::string_view text) {
    for (const auto& [name, value] : names) {
        if (name == text) return value;
    }
    return std::nullopt;
}

// For errors: "a", "b" or "c".
template <class T>
std::string one_of(const Names<T>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
        out += '"' + names[i].first + '"';
    }
    return out;
}

struct HostAndPort {
    std::string host{};
    std::uint16_t port = 0;
};

// "127.0.0.1:7070", "localhost:0", "[::1]:7070".
inline constexpr const char* listen_form =
    "an address such as \"127.0.0.1:7070\" or \"[::1]:7070\"";
std::optional<HostAndPort> parse_listen(std::string_view text);

// The same the other way round.
std::string address_text(const std::string& host, std::uint16_t port);

// By which address clients reach a server with these options.
std::string url_text(const http::ServerOptions& options, const std::string& host,
                     std::uint16_t port);

// true, 1, yes, on, or false, 0, no, off, in any case.
std::optional<bool> parse_flag(std::string_view text);

}  // namespace sluice
