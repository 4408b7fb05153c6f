#include "infrastructure/jwt/base64url.hpp"

#include <gtest/gtest.h>

#include "support/jwt_issuer.hpp"

namespace sluice {
namespace base64url_test {

TEST(Base64Url, ReadsWhatWasWritten) {
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(decode_base64url(base64url(bytes)), bytes);
        bytes.push_back(static_cast<char>(i * 37));
    }
    EXPECT_EQ(decode_base64url("-_-_"), "\xFB\xFF\xBF");
}

TEST(Base64Url, RefusesEveryOtherForm) {
    for (const char* text : {"A", "AAAAA", "QQ==", "QQ=", "=", "Q Q", "QQ\n", "+/+/", "QR", "QUF",
                             "AA\xC3\xA4", "QQ.", "Q*"}) {
        EXPECT_EQ(decode_base64url(text), std::nullopt) << text;
    }
    EXPECT_EQ(decode_base64url(std::string_view("QQ\0A", 4)), std::nullopt);
}

// For each pair of bytes there are several texts that lenient readers accept.
TEST(Base64Url, HasOneFormForEachText) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::size_t accepted = 0;
    for (const char first : alphabet) {
        for (const char second : alphabet) {
            const auto bytes = decode_base64url(std::string{first, second});
            if (!bytes) continue;
            ++accepted;
            EXPECT_EQ(base64url(*bytes), (std::string{first, second}));
        }
    }
    EXPECT_EQ(accepted, 256u);
}

}  // namespace base64url_test
}  // namespace sluice
