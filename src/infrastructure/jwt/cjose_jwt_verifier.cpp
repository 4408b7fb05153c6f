// The steps of a check, each cheaper than the next: size, hash (a token that is known ends here),
// form, header, key, claims, and last the signature, which is only checked for tokens that a key
// could have signed. No claim is believed before that.
#include "infrastructure/jwt/cjose_jwt_verifier.hpp"

#include <cjose/jws.h>
#include <fmt/format.h>

#include <algorithm>

#include "infrastructure/jwt/base64url.hpp"
#include "infrastructure/jwt/json_members.hpp"
#include "infrastructure/jwt/key_watch.hpp"

namespace sluice {
namespace {

constexpr std::size_t token_bytes_max = 8 * 1024;
constexpr std::size_t known_tokens_max = 10'000;

struct ReleaseJws {
    void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
};

struct TokenParts {
    std::string header{};
    std::string claims{};
    std::size_t signature_bytes = 0;
};

std::optional<TokenParts> split(std::string_view token) {
    const std::size_t first = token.find('.');
    const std::size_t second = first == token.npos ? first : token.find('.', first + 1);
    if (second == token.npos) return std::nullopt;  // a third dot is no base64url
    auto header = decode_base64url(token.substr(0, first));
    auto claims = decode_base64url(token.substr(first + 1, second - first - 1));
    const auto signature = decode_base64url(token.substr(second + 1));
    if (!header || !claims || !signature) return std::nullopt;
    return TokenParts{*std::move(header), *std::move(claims), signature->size()};
}

// A token names the key that it is signed with. Its hints where to find that key (jku, x5u, jwk,
// x5c) are ignored: it could name its own. Header fields marked as critical would have to be
// understood.
bool is_token_header(const JsonMembers& header) {
    if (header.has("crit") || header.has("b64")) return false;
    if (!header.has("typ")) return true;
    const std::string type = header.text("typ").value_or("");
    return type == "JWT" || type == "at+jwt";
}

bool allows(const VerificationKey& key, const JsonMembers& header) {
    const auto algorithm = header.text("alg");
    return algorithm && std::find(key.algorithms.begin(), key.algorithms.end(), *algorithm) !=
                            key.algorithms.end();
}

bool is_signed_by(const VerificationKey& key, std::string_view token) {
    const std::unique_ptr<cjose_jws_t, ReleaseJws> jws(
        cjose_jws_import(token.data(), token.size(), nullptr));
    return jws != nullptr && cjose_jws_verify(jws.get(), key.jwk.get(), nullptr);
}

std::optional<std::string> problem_with(const JwtSettings& settings) {
    if (settings.issuer.empty()) return "an issuer is needed: which tokens are ours?";
    if (settings.audience.empty()) return "an audience is needed: tokens for others are not ours";
    if (settings.skew < Duration{} || settings.skew > JwtSettings::skew_max) {
        return "the skew of clocks must be between 0 and 60 seconds";
    }
    return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<CjoseJwtVerifier>> CjoseJwtVerifier::open(const JwtSettings& settings) {
    return open(settings, KeyWatchTimes{});
}

Result<std::unique_ptr<CjoseJwtVerifier>> CjoseJwtVerifier::open(const JwtSettings& settings,
                                                                 const KeyWatchTimes& times) {
    if (auto problem = problem_with(settings)) {
        return Error{ErrorCode::invalid, *std::move(problem), ""};
    }
    auto watch = KeyWatch::open(settings.jwks, times);
    if (!watch) return watch.error();
    return std::unique_ptr<CjoseJwtVerifier>(new CjoseJwtVerifier(settings, *std::move(watch)));
}

CjoseJwtVerifier::CjoseJwtVerifier(const JwtSettings& settings, std::unique_ptr<KeyWatch> watch)
    : settings_(settings), watch_(std::move(watch)), known_(known_tokens_max) {}

CjoseJwtVerifier::~CjoseJwtVerifier() = default;

void CjoseJwtVerifier::reload() {
    watch_->reload();
}

bool CjoseJwtVerifier::has_keys() const {
    return watch_->keys() != nullptr;
}

std::optional<Caller> CjoseJwtVerifier::verify(std::string_view token, Timestamp now) {
    if (token.size() > token_bytes_max) return std::nullopt;
    // A removed key must not live on through the tokens that it has signed.
    if (auto keys = watch_->keys(); keys != keys_) {
        keys_ = std::move(keys);
        known_.clear();
    }
    if (keys_ == nullptr) return std::nullopt;
    const Digest digest = sha256(token);
    if (const TokenClaims* known = known_.find(digest)) {
        return known->validity.covers(now) ? std::optional(known->caller) : std::nullopt;
    }
    auto claims = read_token(token, *keys_);
    if (!claims || !claims->validity.covers(now)) return std::nullopt;
    const Caller caller = claims->caller;
    known_.put(digest, *std::move(claims));
    return caller;
}

std::optional<TokenClaims> CjoseJwtVerifier::read_token(std::string_view token,
                                                        const KeySet& keys) {
    const auto parts = split(token);
    const auto header = parts ? JsonMembers::read(parts->header) : std::nullopt;
    if (!header || !is_token_header(*header)) return std::nullopt;

    const VerificationKey* key = nullptr;
    if (header->has("kid")) {
        const auto id = header->text("kid");
        if (!id) return std::nullopt;
        key = keys.find(*id);
        if (key == nullptr) watch_->ask_for_more();
    } else {
        key = keys.only();
    }
    if (key == nullptr || !allows(*key, *header)) return std::nullopt;
    // The library accepts signatures of other lengths, so that one signature would have many forms.
    if (parts->signature_bytes != key->signature_bytes) return std::nullopt;

    auto claims = read_claims(parts->claims, settings_);
    if (!claims || !is_signed_by(*key, token)) return std::nullopt;
    return claims;
}

}  // namespace sluice
