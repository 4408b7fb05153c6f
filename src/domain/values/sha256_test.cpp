#include "domain/values/sha256.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace sha256_test {

// The examples of FIPS 180-4.
TEST(Sha256, GivesThePublishedDigests) {
    EXPECT_EQ(to_hex(sha256("")),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(to_hex(sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, TakesBytesThatAreNotText) {
    EXPECT_NE(sha256(std::string("a\0b", 3)), sha256("a"));
    EXPECT_NE(sha256(std::string("\xff\xfe", 2)), sha256(std::string("\xff\xff", 2)));
}

TEST(Sha256, OfTwoPartsIsThatOfThemJoined) {
    const Digest first = sha256("first");
    std::string both(bytes_of(first));
    both.append("second");

    const Digest joined = sha256(first, "second");

    EXPECT_EQ(joined, sha256(both));
    EXPECT_EQ(sha256(first, ""), sha256(bytes_of(first)));
}

TEST(Sha256, DoesNotRememberTheCallBefore) {
    const Digest before = sha256("abc");

    sha256("something else");

    EXPECT_EQ(sha256("abc"), before);
}

TEST(DigestText, IsSixtyFourLowerCaseDigits) {
    Digest digest{};
    digest[0] = 0x0F;
    digest[31] = 0xA0;

    std::string text = "x";
    append_hex(text, digest);

    EXPECT_EQ(text, "x0f" + std::string(60, '0') + "a0");
    EXPECT_EQ(to_hex(digest), text.substr(1));
}

TEST(DigestText, IsReadBackOnlyWhenItIsWhole) {
    const Digest digest = sha256("abc");
    const std::string text = to_hex(digest);

    EXPECT_EQ(parse_digest(text), digest);
    EXPECT_EQ(parse_digest(text.substr(1)), std::nullopt);
    EXPECT_EQ(parse_digest(text + "0"), std::nullopt);
    EXPECT_EQ(parse_digest("G" + text.substr(1)), std::nullopt);
    EXPECT_EQ(parse_digest(""), std::nullopt);
}

TEST(DigestText, TellsSecretsApart) {
    Digest other = sha256("abc");
    EXPECT_TRUE(is_same_secret(other, sha256("abc")));
    other.back() ^= 1;
    EXPECT_FALSE(is_same_secret(other, sha256("abc")));
}

}  // namespace sha256_test
}  // namespace sluice
