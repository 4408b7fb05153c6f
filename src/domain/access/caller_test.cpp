#include "domain/access/caller.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace caller_test {

TEST(Scopes, ToOperateAndToSetQuotasIncludesToRead) {
    for (const Scope scope : {Scope::operate, Scope::quota}) {
        const Scopes scopes{scope};
        EXPECT_TRUE(scopes.allow(Scope::read)) << to_text(scope);
        EXPECT_TRUE(scopes.cover({Scope::read})) << to_text(scope);
        EXPECT_FALSE(scopes.names(Scope::read)) << to_text(scope);
        EXPECT_EQ(scopes.texts(), std::vector<std::string_view>{to_text(scope)});
    }
}

TEST(Scopes, IncludeNothingElse) {
    EXPECT_FALSE(Scopes{Scope::quota}.allow(Scope::operate));
    EXPECT_FALSE(Scopes{Scope::operate}.allow(Scope::quota));
    EXPECT_FALSE(Scopes{Scope::read}.allow(Scope::quota));
    EXPECT_FALSE(Scopes{Scope::quota}.cover({Scope::operate}));
    EXPECT_FALSE(Scopes{Scope::read}.cover({Scope::quota}));
    for (const Scope scope : {Scope::backfill, Scope::work}) {
        EXPECT_FALSE(Scopes{scope}.allow(Scope::read)) << to_text(scope);
    }
    EXPECT_FALSE(Scopes{}.allow(Scope::read));
}

}  // namespace caller_test
}  // namespace sluice
