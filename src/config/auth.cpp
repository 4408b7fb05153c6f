// Settings of [auth]: the first admin's token, and JSON Web Tokens.
#include <algorithm>

#include "application/toolkit/names.hpp"
#include "config/settings.hpp"
#include "infrastructure/jwt/jwks_source.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t token_bytes_min = 32;
constexpr std::size_t token_bytes_max = 1000;

bool is_token(std::string_view text) {
    const bool is_printable =
        std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    return text.size() >= token_bytes_min && text.size() <= token_bytes_max && is_printable;
}

void read_admin_token(Section& section, std::string_view key, Config& out) {
    const TomlValue* found = section.find(key);
    if (found != nullptr && is_token(found->text)) {
        out.admin_token = found->text;
    } else if (found != nullptr) {
        section.problem(key, fmt::format("must be {} to {} printable characters without spaces, "
                                         "such as the output of \"openssl rand -hex 32\"",
                                         token_bytes_min, token_bytes_max));
    }
}

void read_admin_token_file(Section& section, std::string_view key, Config& out) {
    const auto path = section.text(key, path_bytes);
    if (!path) return;
    auto text = read_bytes(*path);
    if (!text) {
        section.problem(key, fmt::format("{}: {}", *path, text.error().message));
        return;
    }
    while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
    if (is_token(*text)) {
        out.admin_token = *text;
    } else {
        section.refuse(key, *section.find(key),
                       fmt::format("a file that holds {} to {} printable characters in one line",
                                   token_bytes_min, token_bytes_max));
    }
}

bool is_jwks_source(Section& section, std::string_view key, const std::string& source) {
    const auto problem = problem_with_jwks_source(source);
    if (problem) section.problem(key, *problem);
    return !problem;
}

bool is_tenant(Section& section, std::string_view key, const std::string& tenant) {
    const auto refusal = check_tenant("", tenant);
    if (refusal) section.problem(key, refusal->message);
    return !refusal;
}

bool are_scopes(Section& section, std::string_view key, const std::vector<std::string>& scopes) {
    bool good = true;
    for (const std::string& scope : scopes) {
        if (parse_scope(scope)) continue;
        good = false;
        section.problem(key, fmt::format("\"{}\" is no scope; there are orch:read, orch:operate, "
                                         "orch:quota, orch:backfill and orch:admin",
                                         scope));
    }
    return good;
}

}  // namespace

Rows<Config> admin_token_rows() {
    Row<Config> token{
        "auth.admin_token", secret(&Config::admin_token),
        "The first admin's token, to begin with. It is in no store and in no file of settings.",
        from("SLUICE_ADMIN_TOKEN")};
    token.form.read = read_admin_token;
    token.form.range =
        fmt::format("{} to {} printable characters", token_bytes_min, token_bytes_max);
    token.in_file = false;
    const Form<Config> file{.read = read_admin_token_file, .range = "path"};
    return {token,
            {"auth.admin_token_file", file,
             "A file with the first admin's token, of 32 characters at least.",
             from("SLUICE_ADMIN_TOKEN_FILE"), "\"/etc/sluice/admin-token\""}};
}

Rows<JwtSettings> jwt_rows() {
    using J = JwtSettings;
    return {
        {"issuer", text(&J::issuer, path_bytes), "Must be the \"iss\" of a token.", Outside(),
         "\"https://issuer.example\"", "the \"iss\" of the tokens to believe"},
        {"audience", text(&J::audience, path_bytes), "Must be, or be in, the \"aud\" of a token.",
         Outside(), "\"sluice\"", "the \"aud\" of the tokens that are meant for this engine"},
        {"jwks", text(&J::jwks, path_bytes, is_jwks_source),
         "The issuer's public keys: a file, read again when it changes, or an https:// address.",
         Outside(), "\"/etc/sluice/jwks.json\"",
         "a file or an https:// address with the issuer's public keys"},
        {"default_tenant", text(&J::default_tenant, limits::name_bytes, is_tenant),
         "The tenant of tokens that name none. Without this setting they are refused.", Outside(),
         "\"default\""},
        {"tenant_claim", text(&J::tenant_claim), "The claim that names the tenant."},
        {"scope_claim", text(&J::scope_claim),
         "The claim with the scopes, \"orch:read orch:operate\" or an array. Else \"scp\" is "
         "looked at."},
        {"kind_claim", text(&J::kind_claim),
         "The claim that says \"user\", \"worker\" or \"service\". A caller without it is a user."},
        {"types_claim", text(&J::types_claim),
         "The claim with the job types that a worker may work on. Without it: any type."},
        {"any_tenant_claim", text(&J::any_tenant_claim),
         "The claim that, when it is true, lets the caller ask for every tenant."},
        {"default_scopes", texts(&J::default_scopes, are_scopes),
         "Scopes of users and services whose tokens say nothing about scopes."},
        {"skew", duration(&J::skew, 0s, J::skew_max), "By how much clocks may differ."},
        {"max_lifetime", duration(&J::max_lifetime, 0s, 24h * 366),
         "Tokens that are valid for longer are refused. \"0s\": no limit."},
    };
}

}  // namespace sluice
