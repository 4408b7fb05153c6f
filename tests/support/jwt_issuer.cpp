#include "support/jwt_issuer.hpp"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <fstream>
#include <stdexcept>
#include <vector>

namespace sluice {
namespace {

void expect(bool good) {
    if (!good) throw std::runtime_error("OpenSSL did not make what the test asked for");
}

const unsigned char* data_of(std::string_view bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::string number_bytes(const EVP_PKEY* key, const char* name, int length = 0) {
    BIGNUM* number = nullptr;
    expect(EVP_PKEY_get_bn_param(key, name, &number) == 1);
    std::string bytes(static_cast<std::size_t>(length > 0 ? length : BN_num_bytes(number)), '\0');
    BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()),
                 static_cast<int>(bytes.size()));
    BN_clear_free(number);
    return bytes;
}

std::string quoted(std::string_view text) {
    return fmt::format("\"{}\"", text);
}

const EVP_MD* digest_of(const std::string& algorithm) {
    if (algorithm.ends_with("384")) return EVP_sha384();
    return algorithm.ends_with("512") ? EVP_sha512() : EVP_sha256();
}

int coordinate_bytes(const EVP_PKEY* key) {
    return (EVP_PKEY_get_bits(key) + 7) / 8;
}

// The two numbers of an ECDSA signature, one after the other.
std::string raw_signature(const std::string& der, int number_bytes) {
    const unsigned char* at = data_of(der);
    ECDSA_SIG* numbers = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
    expect(numbers != nullptr);
    std::string raw(static_cast<std::size_t>(2 * number_bytes), '\0');
    auto* out = reinterpret_cast<unsigned char*>(raw.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(numbers), out, number_bytes);
    BN_bn2binpad(ECDSA_SIG_get0_s(numbers), out + number_bytes, number_bytes);
    ECDSA_SIG_free(numbers);
    return raw;
}

std::string signature_of(EVP_PKEY* key, const EVP_MD* digest, bool is_pss, std::string_view text) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          EVP_MD_CTX_free);
    EVP_PKEY_CTX* padding = nullptr;
    expect(EVP_DigestSignInit(context.get(), &padding, digest, nullptr, key) == 1);
    if (is_pss) {
        expect(EVP_PKEY_CTX_set_rsa_padding(padding, RSA_PKCS1_PSS_PADDING) == 1);
        expect(EVP_PKEY_CTX_set_rsa_pss_saltlen(padding, RSA_PSS_SALTLEN_DIGEST) == 1);
    }
    std::size_t size = 0;
    expect(EVP_DigestSign(context.get(), nullptr, &size, data_of(text), text.size()) == 1);
    std::string bytes(size, '\0');
    expect(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size,
                          data_of(text), text.size()) == 1);
    bytes.resize(size);
    return bytes;
}

std::string seconds(Timestamp time, std::chrono::seconds later = {}) {
    return std::to_string(
        std::chrono::duration_cast<std::chrono::seconds>((time + later).time_since_epoch())
            .count());
}

}  // namespace

std::string base64url(std::string_view bytes) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string out;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::string_view group = bytes.substr(at, 3);
        unsigned bits = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0u);
        }
        for (std::size_t i = 0; i <= group.size(); ++i) {
            out.push_back(alphabet[bits >> (18 - 6 * i) & 63]);
        }
    }
    return out;
}

std::string json_text(const JsonObject& object) {
    std::string out = "{";
    for (const auto& [name, value] : object) {
        out += fmt::format("{}\"{}\":{}", out.size() > 1 ? "," : "", name, value);
    }
    return out + "}";
}

JsonObject with(JsonObject base, const JsonObject& changes) {
    for (const auto& [name, value] : changes) {
        if (value.empty()) {
            base.erase(name);
        } else {
            base[name] = value;
        }
    }
    return base;
}

SigningKey::SigningKey(evp_pkey_st* key) : key_(key, EVP_PKEY_free) {
    expect(key != nullptr);
}

SigningKey SigningKey::rsa(unsigned bits) {
    return SigningKey(EVP_RSA_gen(bits));
}

SigningKey SigningKey::ec(const std::string& curve) {
    return SigningKey(EVP_EC_gen(curve.c_str()));
}

JsonObject SigningKey::public_jwk() const {
    if (EVP_PKEY_is_a(key_.get(), "RSA") == 1) {
        return {{"kty", quoted("RSA")},
                {"n", quoted(base64url(number_bytes(key_.get(), OSSL_PKEY_PARAM_RSA_N)))},
                {"e", quoted(base64url(number_bytes(key_.get(), OSSL_PKEY_PARAM_RSA_E)))}};
    }
    const int bytes = coordinate_bytes(key_.get());
    const std::string curve = fmt::format("P-{}", EVP_PKEY_get_bits(key_.get()));
    const auto coordinate = [&](const char* name) {
        return quoted(base64url(number_bytes(key_.get(), name, bytes)));
    };
    return {{"kty", quoted("EC")},
            {"crv", quoted(curve)},
            {"x", coordinate(OSSL_PKEY_PARAM_EC_PUB_X)},
            {"y", coordinate(OSSL_PKEY_PARAM_EC_PUB_Y)}};
}

std::string SigningKey::public_pem() const {
    BIO* memory = BIO_new(BIO_s_mem());
    expect(PEM_write_bio_PUBKEY(memory, key_.get()) == 1);
    char* text = nullptr;
    const long size = BIO_get_mem_data(memory, &text);
    std::string pem(text, static_cast<std::size_t>(size));
    BIO_free(memory);
    return pem;
}

std::string SigningKey::private_exponent() const {
    const bool is_rsa = EVP_PKEY_is_a(key_.get(), "RSA") == 1;
    return base64url(
        number_bytes(key_.get(), is_rsa ? OSSL_PKEY_PARAM_RSA_D : OSSL_PKEY_PARAM_PRIV_KEY));
}

std::string SigningKey::sign(const std::string& algorithm, std::string_view text) const {
    const std::string bytes =
        signature_of(key_.get(), digest_of(algorithm), algorithm.starts_with("PS"), text);
    return algorithm.starts_with("ES") ? raw_signature(bytes, coordinate_bytes(key_.get())) : bytes;
}

std::string SigningKey::sign_der(std::string_view text) const {
    return signature_of(key_.get(), EVP_sha256(), false, text);
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
    std::string out(32, '\0');
    unsigned size = 32;
    expect(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data_of(text), text.size(),
                reinterpret_cast<unsigned char*>(out.data()), &size) != nullptr);
    return out;
}

std::string join_token(std::string_view header, std::string_view claims,
                       std::string_view signature) {
    return base64url(header) + "." + base64url(claims) + "." + base64url(signature);
}

JwtIssuer::JwtIssuer() {
    keys_.emplace("rsa", SigningKey::rsa(2048));
    keys_.emplace("rsa-ps256", SigningKey::rsa(2048));
    keys_.emplace("weak", SigningKey::rsa(1024));
    keys_.emplace("encryption", SigningKey::rsa(2048));
    keys_.emplace("ec-256", SigningKey::ec("P-256"));
    keys_.emplace("ec-384", SigningKey::ec("P-384"));
    keys_.emplace("ec-521", SigningKey::ec("P-521"));
    keys_.emplace("twin", SigningKey::ec("P-256"));
    keys_.emplace("no-signature", SigningKey::ec("P-256"));
    keys_.emplace("stranger", SigningKey::rsa(2048));       // not in the JWKS
    keys_.emplace("stranger-ec", SigningKey::ec("P-256"));  // nor this one
}

std::string JwtIssuer::jwks() const {
    std::vector<JsonObject> keys{
        {{"kty", quoted("oct")}, {"kid", quoted("secret")}, {"k", quoted(base64url("hush hush"))}}};
    for (const char* id : {"rsa", "ec-256", "ec-384", "ec-521", "weak", "twin"}) {
        keys.push_back(with(key(id).public_jwk(), {{"kid", quoted(id)}}));
    }
    const auto add = [&](const std::string& id, const JsonObject& more) {
        keys.push_back(with(with(key(id).public_jwk(), more), {{"kid", quoted(id)}}));
    };
    add("rsa-ps256", {{"alg", quoted("PS256")}, {"use", quoted("sig")}});
    add("encryption", {{"use", quoted("enc")}});
    add("no-signature", {{"key_ops", R"(["deriveKey"])"}});
    keys.push_back(with(key("stranger-ec").public_jwk(), {{"kid", quoted("twin")}}));
    std::string text;
    for (const JsonObject& key : keys) text += (text.empty() ? "" : ",\n") + json_text(key);
    return "{\"keys\":[" + text + "]}\n";
}

void JwtIssuer::write_jwks(const std::string& path) const {
    std::ofstream(path, std::ios::binary) << jwks();
}

std::string JwtIssuer::single_key_jwks() const {
    return "{\"keys\":[" + json_text(key("ec-256").public_jwk()) + "]}";
}

JsonObject JwtIssuer::claims(Timestamp now) {
    return {{"iss", quoted(name)},
            {"aud", quoted(audience)},
            {"sub", quoted("ada")},
            {"tenant", quoted("acme")},
            {"scope", quoted("openid orch:read orch:operate")},
            {"iat", seconds(now)},
            {"exp", seconds(now, std::chrono::minutes(10))}};
}

JsonObject JwtIssuer::header(const std::string& algorithm, const std::string& key_id) {
    return {{"alg", quoted(algorithm)}, {"kid", quoted(key_id)}, {"typ", quoted("JWT")}};
}

std::string JwtIssuer::token_of_texts(const std::string& key_id, const std::string& algorithm,
                                      std::string_view header, std::string_view claims) const {
    const std::string text = base64url(header) + "." + base64url(claims);
    return text + "." + base64url(key(key_id).sign(algorithm, text));
}

std::string JwtIssuer::token(const JsonObject& header, const JsonObject& claims) const {
    const auto plain = [&](const char* member) {
        const std::string& value = header.at(member);
        return value.substr(1, value.size() - 2);
    };
    return token_of_texts(plain("kid"), plain("alg"), json_text(header), json_text(claims));
}

std::string JwtIssuer::token(Timestamp now, const JsonObject& changes) const {
    return token(header("ES256", "ec-256"), with(claims(now), changes));
}

}  // namespace sluice
