#include "main/config_auth.hpp"

#include <fstream>
#include <iterator>

#include "main/config_jwt.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using Rate = http::CallerLimits::Rate;

constexpr std::size_t token_bytes_min = 32;
constexpr std::size_t token_bytes_max = 1000;
constexpr std::int64_t requests_max = 1'000'000;
constexpr const char* rate_form = "a rate such as \"100/s\", \"600/min\" or \"1000/h\", or \"0\"";

bool is_token(std::string_view text) {
    const bool is_printable =
        std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    return text.size() >= token_bytes_min && text.size() <= token_bytes_max && is_printable;
}

void read_rate(Section& table, std::string_view key, Rate& out) {
    const toml::node* node = table.find(key);
    if (node == nullptr) return;
    const auto* text = node->as_string();
    const auto rate = text == nullptr ? std::nullopt : parse_rate(text->get());
    if (!rate) return table.refuse(key, *node, rate_form);
    out = *rate;
}

}  // namespace

void read_auth(Section table, Config& out) {
    std::string path;
    table.text("admin_token_file", path, 4096);
    if (!path.empty()) {
        if (const auto allowed = set_admin_token_file(out, path)) {
            table.refuse("admin_token_file", *table.find("admin_token_file"), *allowed);
        }
    }
    out.jwt = read_jwt(table.section("jwt"));
    table.close();
}

void read_caller_limits(Section& table, http::CallerLimits& out) {
    read_rate(table, "requests_per_tenant", out.per_tenant);
    read_rate(table, "requests_per_address", out.per_address);
    read_rate(table, "bad_tokens_per_address", out.bad_tokens);
    table.integer("streams_per_token", out.streams_per_token, 0, 100'000);
    table.integer("streams_per_tenant", out.streams_per_tenant, 0, 100'000);
    table.integer("waiting_claims_per_tenant", out.waiting_claims_per_tenant, 0, 100'000);
}

std::optional<std::string> set_admin_token(Config& config, std::string_view token) {
    if (!is_token(token)) {
        return fmt::format(
            "{} to {} printable characters without spaces, such as the output of "
            "\"openssl rand -hex 32\"",
            token_bytes_min, token_bytes_max);
    }
    config.admin_token = token;
    return std::nullopt;
}

std::optional<std::string> set_admin_token_file(Config& config, const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    if (file.is_open() && !file.bad() && !set_admin_token(config, text)) return std::nullopt;
    return fmt::format(
        "a file that can be read and holds {} to {} printable characters in one line",
        token_bytes_min, token_bytes_max);
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
