#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "main/config_section.hpp"

// Who is let in, and how often each may come, from TOML and the environment.
namespace sluice {

void read_auth(Section table, Config& out);
void read_caller_limits(Section& table, http::CallerLimits& out);

// These set it, or say what is allowed.
std::optional<std::string> set_admin_token(Config& config, std::string_view token);
std::optional<std::string> set_admin_token_file(Config& config, const std::string& path);

// "100/s", "600/min" or "1000/h"; "0" for no limit.
std::optional<http::CallerLimits::Rate> parse_rate(std::string_view text);
std::string rate_text(const http::CallerLimits::Rate& rate);

}  // namespace sluice
