#include "domain/values/ascii.hpp"

#include <gtest/gtest.h>

#include "domain/values/percent_encoding.hpp"

namespace sluice {
namespace {

TEST(Ascii, LowersCapitalsAndNothingElse) {
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        EXPECT_EQ(to_lower(c), c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        EXPECT_EQ(is_letter(c), (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
    }
    EXPECT_EQ(lowered("X-Ä[@Z"), "x-Ä[@z");
}

TEST(Ascii, ComparesWholeTexts) {
    EXPECT_TRUE(equals_ignoring_case("Content-TYPE", "content-type"));
    EXPECT_FALSE(equals_ignoring_case("Host", "Hosts"));
    EXPECT_FALSE(equals_ignoring_case("Hosts", "Host"));
    EXPECT_FALSE(equals_ignoring_case("a[", "a{"));
}

TEST(PercentEncoding, KeepsWhatAUrlMayHave) {
    EXPECT_EQ(percent_encoded("a-b_c.d~e"), "a-b_c.d~e");
    EXPECT_EQ(percent_encoded("../a b&c=ü%"), "..%2Fa%20b%26c%3D%C3%BC%25");
    EXPECT_EQ(percent_encoded("a,b~", "-_.,"), "a,b%7E");
}

}  // namespace
}  // namespace sluice
