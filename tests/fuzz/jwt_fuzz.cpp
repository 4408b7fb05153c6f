// JSON Web Tokens, from whole tokens down to their parts. The private keys to these public ones are
// not known, so any token that is accepted is a forged one.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "application/toolkit/names.hpp"
#include "infrastructure/jwt/base64url.hpp"
#include "infrastructure/jwt/cjose_jwt_verifier.hpp"
#include "infrastructure/jwt/key_set.hpp"
#include "input.hpp"
#include "support/jwt_issuer.hpp"

namespace sluice {
namespace {

using fuzz::expect;

constexpr const char* jwks =
    R"({"keys":[{"kid":"ec","kty":"EC","crv":"P-256",)"
    R"("x":"W1GMvW0hyEtcl76iyo7au8FPQix0lguZ_UI6nWZL3Dw",)"
    R"("y":"uEbHPWhiFDcBJXfR477adIh9H_aHRxShER22GX287vc"},)"
    R"({"kid":"rsa","kty":"RSA","e":"AQAB","n":")"
    "kD_KHfOxhVlpjK9oJib4BgefHU30vnRraKPRUqt23KKkGTutfzzin2SiICY2YIeBToRiX_EhkcOlQ8MN"
    "Atv7LpCD9b48VeI-cDeaHFsp3-"
    "yaJp0P5p8mmSEnXGdNVgI2mC4KaeLogPUubj3bTA_n6OC8tm9GG72mQl6DPJQ7t16qCnm1mruexDetRX"
    "x7cfdYvjlLne7GNANLblMX5MBucTiTZP3i3uFoV-PkvRU1T5AJWIhtbGhpsQIfbHIYfOeqQbFNkM4Oka"
    "wb3BWzaLaqG_WIq5hESAOxbo2Q_5hUh1o13JHfE8UZAxbivA1ECMoU3V4APvQt9Mdbt3xgTDNB4w"
    R"("}]})";

const Timestamp now = from_micros(1'800'000'000'000'000);

JwtSettings settings_with(const std::string& path) {
    return {.issuer = "https://issuer.example", .audience = "sluice", .jwks = path};
}

CjoseJwtVerifier& verifier() {
    static const auto opened = [] {
        const std::string path = "/tmp/sluice-fuzz-jwks-" + std::to_string(::getpid());
        std::FILE* file = std::fopen(path.c_str(), "w");
        std::fputs(jwks, file);
        std::fclose(file);
        auto made = CjoseJwtVerifier::open(settings_with(path));
        ::unlink(path.c_str());
        expect(static_cast<bool>(made), "the keys can be read");
        return *std::move(made);
    }();
    return *opened;
}

void verify_token(std::string_view token) {
    expect(!verifier().verify(token, now), "nobody can have signed this");
}

// The input is header, claims and signature as they are before base64url, with a line end between.
void verify_parts(std::string_view text) {
    const std::size_t first = std::min(text.find('\n'), text.size());
    const std::string_view rest = text.substr(std::min(first + 1, text.size()));
    const std::size_t second = std::min(rest.find('\n'), rest.size());
    std::string signature(rest.substr(std::min(second + 1, rest.size())));
    signature.resize(64);  // the required length, so that it is checked
    verify_token(join_token(text.substr(0, first), rest.substr(0, second), signature));
}

void read_claims_of(std::string_view json) {
    const auto claims = read_claims(json, settings_with("unused"));
    if (!claims) return;
    const Caller& caller = claims->caller;
    expect(!caller.name.empty() && !check_name("", caller.name), "a caller has a name");
    expect(!caller.tenant.empty() && !check_name("", caller.tenant), "and a tenant");
    expect(claims->validity.until > claims->caller.expires, "clocks may differ");
    if (caller.kind == CallerKind::worker) {
        expect(caller.scopes == Scopes{Scope::work} && !caller.any_tenant, "workers work");
    } else {
        expect(!caller.scopes.names(Scope::work), "others do not");
    }
}

void read_keys(std::string_view json) {
    const auto read = read_jwks(json);
    if (!read) return;
    expect(read->keys->size() > 0, "there are keys");
    if (const VerificationKey* key = read->keys->only()) {
        expect(!key->algorithms.empty() && key->jwk != nullptr, "a key can be used");
        expect(key->signature_bytes >= 64, "a signature has a length");
    }
}

void read_base64url(std::string_view text) {
    const auto bytes = decode_base64url(text);
    if (bytes) expect(base64url(*bytes) == text, "there is one form");
}

}  // namespace
}  // namespace sluice

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr void (*readers[])(std::string_view) = {sluice::verify_token, sluice::verify_parts,
                                                     sluice::read_claims_of, sluice::read_keys,
                                                     sluice::read_base64url};
    std::string_view input = sluice::fuzz::text_of(data, size);
    readers[sluice::fuzz::take_choice(input, std::size(readers))](input);
    return 0;
}
