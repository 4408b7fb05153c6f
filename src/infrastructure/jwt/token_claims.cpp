#include "infrastructure/jwt/token_claims.hpp"

#include <algorithm>

#include "application/toolkit/names.hpp"
#include "infrastructure/jwt/json_members.hpp"

namespace sluice {
namespace {

constexpr double seconds_max = 253'402'300'799;  // the last second of the year 9999

bool is_name(std::string_view text) {
    return !text.empty() && !check_name("", text);
}

// A time as claims have it: seconds, perhaps with a fraction. An absent claim leaves `out` as it
// is.
bool read_time(const JsonMembers& claims, std::string_view name, std::optional<Timestamp>& out) {
    if (!claims.has(name)) return true;
    const auto seconds = claims.number(name);
    if (!seconds || *seconds < 0 || *seconds > seconds_max) return false;
    out = from_micros(static_cast<std::int64_t>(*seconds * 1e6));
    return true;
}

bool is_for_us(const JsonMembers& claims, const JwtSettings& settings) {
    if (claims.text("iss") != settings.issuer) return false;
    const auto audiences = claims.texts("aud");
    return audiences &&
           std::find(audiences->begin(), audiences->end(), settings.audience) != audiences->end();
}

bool read_times(const JsonMembers& claims, const JwtSettings& settings, TokenClaims& out) {
    std::optional<Timestamp> expires, not_before, issued;
    if (!read_time(claims, "exp", expires) || !read_time(claims, "nbf", not_before) ||
        !read_time(claims, "iat", issued) || !expires) {
        return false;
    }
    if (settings.max_lifetime > Duration{}) {
        if (!issued || *expires - *issued > settings.max_lifetime) return false;
    }
    const Timestamp begin =
        std::max(not_before.value_or(Timestamp{}), issued.value_or(Timestamp{}));
    out.caller.expires = *expires + settings.skew;
    out.validity = {begin - settings.skew, *expires + settings.skew};
    return true;
}

// "a b  c", or several of such texts.
std::vector<std::string> split_at_blanks(const std::vector<std::string>& texts) {
    std::vector<std::string> parts;
    for (const std::string_view text : texts) {
        std::size_t at = 0;
        while ((at = text.find_first_not_of(' ', at)) != std::string_view::npos) {
            const std::size_t end = std::min(text.find(' ', at), text.size());
            parts.emplace_back(text.substr(at, end - at));
            at = end;
        }
    }
    return parts;
}

Scopes scopes_of(const std::vector<std::string>& names) {
    Scopes scopes;
    for (const std::string& name : names) {
        if (const auto scope = parse_scope(name)) scopes.add(*scope);
    }
    return scopes;
}

bool read_scopes(const JsonMembers& claims, const JwtSettings& settings, Scopes& out) {
    for (const std::string_view claim : {std::string_view(settings.scope_claim), {"scp"}}) {
        if (!claims.has(claim)) continue;
        const auto texts = claims.texts(claim);
        if (!texts) return false;
        out = scopes_of(split_at_blanks(*texts));
        return true;
    }
    out = scopes_of(settings.default_scopes);
    return true;
}

// An empty list would allow every type, which its author hardly meant.
bool read_types(const JsonMembers& claims, const JwtSettings& settings, Caller& out) {
    if (!claims.has(settings.types_claim)) return true;
    auto types = claims.texts(settings.types_claim);
    if (!types || types->empty() || check_list("", *types)) return false;
    out.types = *std::move(types);
    return true;
}

bool read_tenant(const JsonMembers& claims, const JwtSettings& settings, Caller& out) {
    out.tenant = settings.default_tenant;
    if (claims.has(settings.tenant_claim)) {
        out.tenant = claims.text(settings.tenant_claim).value_or("");
    }
    return !check_tenant("", out.tenant);
}

bool read_caller(const JsonMembers& claims, const JwtSettings& settings, Caller& out) {
    out.credential = "jwt";
    out.name = claims.text("sub").value_or("");
    if (!is_name(out.name) || !read_tenant(claims, settings, out)) return false;
    if (claims.has(settings.kind_claim)) {
        const auto kind = parse_caller_kind(claims.text(settings.kind_claim).value_or(""));
        if (!kind) return false;
        out.kind = *kind;
    }
    if (out.kind == CallerKind::worker) {
        out.scopes = {Scope::work};
        return read_types(claims, settings, out);
    }
    const std::string& any_tenant = settings.any_tenant_claim;
    out.any_tenant = !any_tenant.empty() && claims.is_true(any_tenant);
    return read_scopes(claims, settings, out.scopes);
}

}  // namespace

std::optional<TokenClaims> read_claims(std::string_view json, const JwtSettings& settings) {
    TokenClaims out;
    const auto claims = JsonMembers::read(json);
    if (!claims || !is_for_us(*claims, settings) || !read_times(*claims, settings, out) ||
        !read_caller(*claims, settings, out.caller)) {
        return std::nullopt;
    }
    return out;
}

}  // namespace sluice
