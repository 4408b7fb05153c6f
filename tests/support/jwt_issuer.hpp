#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "domain/values/time.hpp"

struct evp_pkey_st;

// Issues JSON Web Tokens to tests. Everything here is made with OpenSSL alone, so that it shares
// nothing with the code that checks them.
namespace sluice {

std::string base64url(std::string_view bytes);

// A JSON object, by the names of its members; each value is JSON.
using JsonObject = std::map<std::string, std::string>;
std::string json_text(const JsonObject& object);

// `changes` on top of `base`; an empty value removes the member.
JsonObject with(JsonObject base, const JsonObject& changes);

class SigningKey {
  public:
    static SigningKey rsa(unsigned bits);
    static SigningKey ec(const std::string& curve);  // "P-256" and so on

    // Its public half, as the members of a JWK.
    JsonObject public_jwk() const;
    std::string public_pem() const;
    std::string private_exponent() const;  // "d", as base64url

    // Signs as RFC 7518 says, e.g. for "PS256".
    std::string sign(const std::string& algorithm, std::string_view text) const;
    // An ECDSA signature in OpenSSL's form, which tokens do not use.
    std::string sign_der(std::string_view text) const;

  private:
    explicit SigningKey(evp_pkey_st* key);

    std::shared_ptr<evp_pkey_st> key_;
};

std::string hmac_sha256(std::string_view key, std::string_view text);

// header.claims.signature
std::string join_token(std::string_view header, std::string_view claims,
                       std::string_view signature);

// The issuer, its keys and those of others.
class JwtIssuer {
  public:
    static constexpr const char* name = "https://issuer.example";
    static constexpr const char* audience = "sluice";

    JwtIssuer();

    // Keys by their ids: "rsa", "rsa-ps256" (which allows PS256 only), "ec-256", "ec-384",
    // "ec-521"; and keys that must not be used: "secret" (symmetric), "encryption", "weak" (1024
    // bits), "twin" (twice), "no-signature" (key_ops).
    std::string jwks() const;
    void write_jwks(const std::string& path) const;
    // A JWKS with one key, that has no id; tokens need not name it.
    std::string single_key_jwks() const;

    const SigningKey& key(const std::string& id) const { return keys_.at(id); }

    // The claims of a good token at this moment: ada of tenant acme, who may read and operate.
    static JsonObject claims(Timestamp now);
    static JsonObject header(const std::string& algorithm, const std::string& key_id);

    // Signed, with any header and claims.
    std::string token(const JsonObject& header, const JsonObject& claims) const;
    std::string token_of_texts(const std::string& key_id, const std::string& algorithm,
                               std::string_view header, std::string_view claims) const;
    // A good token, except for the changes in its claims.
    std::string token(Timestamp now, const JsonObject& changes = {}) const;

  private:
    std::map<std::string, SigningKey> keys_;
};

}  // namespace sluice
