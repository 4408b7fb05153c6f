#include "infrastructure/jwt/verified_tokens.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace verified_tokens_test {

TokenClaims claims_of(const std::string& name) {
    return {.caller = {.name = name}, .validity = {}};
}

TEST(VerifiedTokens, NeverHoldsMoreThanItMay) {
    VerifiedTokens tokens(100);
    for (int i = 0; i < 1000; ++i) {
        tokens.put(sha256(std::to_string(i)), claims_of(std::to_string(i)));
        ASSERT_LE(tokens.size(), 100u);
    }
    EXPECT_EQ(tokens.find(sha256("999"))->caller.name, "999");
    EXPECT_EQ(tokens.find(sha256("1")), nullptr);
}

TEST(VerifiedTokens, KeepsWhatIsAskedForAgainAndAgain) {
    VerifiedTokens tokens(100);
    tokens.put(sha256("ada"), claims_of("ada"));
    for (int i = 0; i < 1000; ++i) {
        tokens.put(sha256(std::to_string(i)), claims_of("other"));
        ASSERT_NE(tokens.find(sha256("ada")), nullptr);
    }
    tokens.clear();
    EXPECT_EQ(tokens.find(sha256("ada")), nullptr);
    EXPECT_EQ(tokens.size(), 0u);
}

}  // namespace verified_tokens_test
}  // namespace sluice
