#include "infrastructure/jwt/jwks_source.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace jwks_source_test {

TEST(JwksSource, IsAFileOrAnAddressThatNobodyCanChangeOnTheWay) {
    for (const char* source :
         {"/etc/sluice/jwks.json", "jwks.json", "./keys", "https://issuer.example/jwks",
          "https://issuer.example:8443/a?b=c", "http://127.0.0.1/jwks", "http://127.0.0.1:80/jwks",
          "http://localhost:8080/jwks", "http://[::1]:8080/jwks"}) {
        EXPECT_EQ(problem_with_jwks_source(source), std::nullopt) << source;
    }
}

TEST(JwksSource, RefusesAddressesThatAnyoneCouldAnswerFor) {
    for (const char* source :
         {"", "http://issuer.example/jwks", "http://127.0.0.1.example/jwks",
          "http://localhost.example/", "http://127.0.0.1@issuer.example/jwks",
          "http://localhost:80@issuer.example/", "https://user:password@issuer.example/",
          "http://10.0.0.1/jwks", "http:///jwks", "https://", "ftp://issuer.example/jwks",
          "file:///etc/jwks", "https://issuer.example/a b", "http://127.0.0.1\\@issuer.example/"}) {
        EXPECT_NE(problem_with_jwks_source(source), std::nullopt) << source;
    }
}

}  // namespace jwks_source_test
}  // namespace sluice
