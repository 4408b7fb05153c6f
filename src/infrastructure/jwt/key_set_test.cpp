#include "infrastructure/jwt/key_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "support/jwt_issuer.hpp"

namespace sluice {
namespace key_set_test {

const SigningKey& rsa() {
    static const SigningKey key = SigningKey::rsa(2048);
    return key;
}
const SigningKey& ec() {
    static const SigningKey key = SigningKey::ec("P-256");
    return key;
}

Result<ReadKeys> read_one(const SigningKey& key, const JsonObject& changes) {
    return read_jwks("{\"keys\":[" + json_text(with(key.public_jwk(), changes)) + "]}");
}

std::string algorithms(const Result<ReadKeys>& read) {
    if (!read) return read.error().message;
    return fmt::format("{}", fmt::join(read->keys->only()->algorithms, " "));
}

TEST(KeySet, ReadsWhatAKeyMayBeUsedFor) {
    EXPECT_EQ(algorithms(read_one(rsa(), {})), "RS256 RS384 RS512 PS256 PS384 PS512");
    EXPECT_EQ(algorithms(read_one(rsa(), {{"alg", R"("PS384")"}})), "PS384");
    EXPECT_EQ(algorithms(read_one(ec(), {})), "ES256");
    EXPECT_EQ(algorithms(read_one(SigningKey::ec("P-384"), {})), "ES384");
    EXPECT_EQ(algorithms(read_one(SigningKey::ec("P-521"), {})), "ES512");
    EXPECT_EQ(algorithms(read_one(ec(), {{"use", R"("sig")"}, {"key_ops", R"(["verify"])"}})),
              "ES256");
    EXPECT_TRUE(read_one(rsa(), {{"x5c", R"(["MIIB"])"}, {"unknown", "{}"}}));
}

TEST(KeySet, LeavesOutKeysThatMustNotBeUsed) {
    struct Bad {
        SigningKey key;
        JsonObject changes;
        std::string why;
    };
    const std::string x = ec().public_jwk().at("x");
    for (const Bad& bad : std::vector<Bad>{
             {rsa(), {{"use", R"("enc")"}}, "\"use\" is not \"sig\""},
             {rsa(), {{"use", "1"}}, "\"use\" is not \"sig\""},
             {rsa(), {{"key_ops", R"(["sign"])"}}, "does not have \"verify\""},
             {rsa(), {{"key_ops", "1"}}, "does not have \"verify\""},
             {rsa(), {{"alg", R"("ES256")"}}, "\"alg\" does not fit"},
             {rsa(), {{"alg", R"("HS256")"}}, "\"alg\" does not fit"},
             {rsa(), {{"alg", "1"}}, "\"alg\" does not fit"},
             {rsa(), {{"kid", "1"}}, "\"kid\" must be a text"},
             {rsa(), {{"kid", R"("")"}}, "\"kid\" must be a text"},
             {rsa(), {{"kty", R"("oct")"}}, "it is symmetric"},
             {rsa(), {{"kty", R"("OKP")"}}, "\"kty\" must be RSA or EC"},
             {rsa(), {{"kty", ""}}, "\"kty\" must be RSA or EC"},
             {rsa(), {{"n", ""}}, "base64url"},
             {rsa(), {{"n", R"("+/==")"}}, "base64url"},
             {rsa(), {{"n", "\"" + base64url('\0' + std::string(256, '\xFF')) + "\""}}, "zeros"},
             {rsa(), {{"n", "\"" + base64url(std::string(1025, '\xFF')) + "\""}}, "8192 bits"},
             {rsa(), {{"n", "\"" + base64url('\x7F' + std::string(255, '\xFF')) + "\""}}, "2048"},
             {rsa(), {{"e", R"("AQ")"}}, "exponent"},
             {rsa(), {{"e", R"("AAE")"}}, "exponent"},
             {rsa(), {{"e", R"("BA")"}}, "exponent"},
             {rsa(), {{"e", "\"" + base64url(std::string(9, '\x03')) + "\""}}, "exponent"},
             {SigningKey::rsa(1024), {}, "2048 bits or more"},
             {ec(), {{"crv", R"("P-384")"}}, "as long as the curve"},
             {ec(), {{"crv", R"("secp256k1")"}}, "\"crv\" must be"},
             {ec(), {{"crv", ""}}, "\"crv\" must be"},
             {ec(), {{"y", x}}, "make no key"},  // a point that is not on the curve
             {ec(), {{"y", ""}}, "base64url"},
         }) {
        const auto read = read_one(bad.key, bad.changes);
        ASSERT_FALSE(read) << json_text(bad.changes);
        EXPECT_NE(read.error().message.find(bad.why), std::string::npos) << read.error().message;
    }
}

TEST(KeySet, UsesThePublicHalfOfAPrivateKeyAndSaysWhatIsWrong) {
    const auto read = read_one(rsa(), {{"d", "\"" + rsa().private_exponent() + "\""}});
    ASSERT_TRUE(read);
    ASSERT_EQ(read->remarks.size(), 1u);
    EXPECT_NE(read->remarks[0].find("private part"), std::string::npos);
    EXPECT_EQ(read->remarks[0].find(rsa().private_exponent().substr(0, 8)), std::string::npos);
}

TEST(KeySet, FindsAKeyByItsIdUnlessItIsThatOfTwo) {
    const auto named = [](const SigningKey& key, const char* id) {
        return json_text(with(key.public_jwk(), {{"kid", fmt::format("\"{}\"", id)}}));
    };
    const auto read = read_jwks(fmt::format(R"({{"keys":[{},{},{},{}]}})", named(rsa(), "a"),
                                            named(rsa(), "twin"), named(ec(), "twin"),
                                            json_text(ec().public_jwk())));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->keys->size(), 4u);
    EXPECT_EQ(read->keys->find("a")->id, "a");
    EXPECT_EQ(read->keys->find("twin"), nullptr);
    EXPECT_EQ(read->keys->find(""), nullptr);
    EXPECT_EQ(read->keys->find("A"), nullptr);
    EXPECT_EQ(read->keys->only(), nullptr);
    EXPECT_EQ(read->remarks.size(), 2u);
}

TEST(KeySet, RefusesWhatIsNoJwks) {
    const std::string key = json_text(ec().public_jwk());
    for (const std::string& text :
         {std::string(), std::string("{}"), std::string("[]"), key, std::string(R"({"keys":{}})"),
          std::string(R"({"keys":[]})"), std::string(R"({"keys":[1,null,[]]})"),
          R"({"keys":[)" + key + "]}x", R"({"keys":[],"keys":[)" + key + "]}",
          R"({"keys":[{"kty":"RSA",)" + key.substr(1) + "]}"}) {
        EXPECT_FALSE(read_jwks(text)) << text;
    }
    std::string many = key;
    for (int i = 0; i < 100; ++i) many += "," + key;
    EXPECT_EQ(read_jwks(R"({"keys":[)" + many + "]}").error().message,
              "has 101 keys; at most 100 are read");
}

}  // namespace key_set_test
}  // namespace sluice
