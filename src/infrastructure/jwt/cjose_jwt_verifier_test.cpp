#include "infrastructure/jwt/cjose_jwt_verifier.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "infrastructure/system/boot_clock.hpp"
#include "support/forged_jwts.hpp"
#include "support/sanitizers.hpp"

namespace sluice {
namespace cjose_jwt_verifier_test {

using namespace std::chrono_literals;

const JwtIssuer& issuer() {
    static const JwtIssuer one;
    return one;
}

const Timestamp now = from_micros(1'800'000'000'000'000);

class JwtVerifierTest : public testing::Test {
  protected:
    JwtVerifierTest() {
        issuer().write_jwks(path);
        settings = {.issuer = JwtIssuer::name, .audience = JwtIssuer::audience, .jwks = path};
    }
    ~JwtVerifierTest() override { std::filesystem::remove(path); }

    CjoseJwtVerifier& verifier() {
        if (verifier_ == nullptr) {
            auto opened = CjoseJwtVerifier::open(settings);
            if (!opened) throw std::logic_error(opened.error().message);
            verifier_ = *std::move(opened);
        }
        return *verifier_;
    }
    std::optional<Caller> verify(const JsonObject& changes, Duration later = {}) {
        return verifier().verify(issuer().token(now, changes), now + later);
    }
    static std::string seconds(std::chrono::seconds later) {
        return std::to_string(to_micros(now + later) / 1'000'000);
    }

    std::string path =
        std::filesystem::temp_directory_path() / ("sluice-jwks-" + std::to_string(getpid()));
    JwtSettings settings;

  private:
    std::unique_ptr<CjoseJwtVerifier> verifier_;
};

TEST_F(JwtVerifierTest, RefusesEveryForgedToken) {
    const auto forged = forged_jwts(issuer(), now);
    EXPECT_GE(forged.size(), 180u);
    for (const ForgedJwt& one : forged) {
        EXPECT_FALSE(verifier().verify(one.token, now)) << one.name << ": " << one.token;
    }
    // After all of them it still knows a good token; and they are refused the second time, too.
    EXPECT_TRUE(verify({}));
    for (const ForgedJwt& one : forged) EXPECT_FALSE(verifier().verify(one.token, now)) << one.name;
}

TEST_F(JwtVerifierTest, RefusesAForgedTokenInLessThanFiveMilliseconds) {
    const auto forged = forged_jwts(issuer(), now);
    verifier();
    std::vector<std::pair<Duration, std::string>> slow;
    for (const ForgedJwt& one : forged) {
        Duration best = Duration::max();
        for (int i = 0; i < 3; ++i) {  // the best of three: the machine has other work, too
            const Duration begin = since_boot();
            verifier().verify(one.token, now);
            best = std::min(best, since_boot() - begin);
        }
        if (best > 5ms) slow.emplace_back(best, one.name);
    }
    verifier().verify(std::string(1'000'000, 'a') + "." + std::string(1'000'000, 'b') + ".", now);
    EXPECT_TRUE(is_sanitized || slow.empty()) << slow.front().second;
}

TEST_F(JwtVerifierTest, AcceptsEveryAlgorithmThatAKeyAllows) {
    for (const auto& [key, algorithm] : std::vector<std::pair<std::string, std::string>>{
             {"rsa", "RS256"},
             {"rsa", "RS384"},
             {"rsa", "RS512"},
             {"rsa", "PS256"},
             {"rsa", "PS384"},
             {"rsa", "PS512"},
             {"rsa-ps256", "PS256"},
             {"ec-256", "ES256"},
             {"ec-384", "ES384"},
             {"ec-521", "ES512"},
         }) {
        const auto caller = verifier().verify(
            issuer().token(JwtIssuer::header(algorithm, key), JwtIssuer::claims(now)), now);
        ASSERT_TRUE(caller) << key << " " << algorithm;
        EXPECT_EQ(caller->name, "ada");
    }
}

TEST_F(JwtVerifierTest, TellsWhoTheCallerIs) {
    const Caller expected{.tenant = "acme",
                          .name = "ada",
                          .scopes = {Scope::read, Scope::operate},
                          .credential = "jwt",
                          .expires = now + 600s + 30s};
    EXPECT_EQ(verify({}), expected);
    EXPECT_EQ(verify({}), expected);  // from memory
}

TEST_F(JwtVerifierTest, AcceptsTheTypesOfHeadersThatAccessTokensHave) {
    for (const char* type : {"", R"("JWT")", R"("at+jwt")"}) {
        const auto header = with(JwtIssuer::header("ES256", "ec-256"), {{"typ", type}});
        EXPECT_TRUE(verifier().verify(issuer().token(header, JwtIssuer::claims(now)), now)) << type;
    }
}

TEST_F(JwtVerifierTest, NeedsNoKeyIdWhenThereIsOneKey) {
    std::ofstream(path, std::ios::binary) << issuer().single_key_jwks();
    const auto token = [](const std::string& header) {
        return issuer().token_of_texts("ec-256", "ES256", header,
                                       json_text(JwtIssuer::claims(now)));
    };
    EXPECT_TRUE(verifier().verify(token(R"({"alg":"ES256"})"), now));
    EXPECT_FALSE(verifier().verify(token(R"({"alg":"ES256","kid":"ec-256"})"), now));
    EXPECT_FALSE(verifier().verify(token(R"({"alg":"ES256","kid":""})"), now));
}

TEST_F(JwtVerifierTest, AllowsForClocksThatAreAlittleOff) {
    EXPECT_TRUE(verify({}, 600s + 29s));
    EXPECT_FALSE(verify({}, 600s + 30s));
    EXPECT_TRUE(verify({{"nbf", seconds(30s)}}));
    EXPECT_FALSE(verify({{"nbf", seconds(31s)}}));
    EXPECT_TRUE(verify({{"iat", seconds(30s)}}));
    EXPECT_FALSE(verify({{"iat", seconds(31s)}}));
    EXPECT_TRUE(verify({{"exp", seconds(600s) + ".25"}}, 600s + 30s + 200ms));
    EXPECT_FALSE(verify({{"exp", seconds(600s) + ".25"}}, 600s + 30s + 250ms));
}

TEST_F(JwtVerifierTest, DoesNotBelieveAKnownTokenAfterItsEndNorBeforeItsBegin) {
    const JsonObject claims{{"nbf", seconds(0s)}};
    EXPECT_TRUE(verify(claims));
    EXPECT_FALSE(verify(claims, 631s));
    EXPECT_FALSE(verify(claims, -31s));
    EXPECT_TRUE(verify(claims));
}

TEST_F(JwtVerifierTest, ReadsAudiencesAndScopesAsTextsOrLists) {
    EXPECT_TRUE(verify({{"aud", R"(["other","sluice"])"}}));
    const auto scopes = [&](const JsonObject& changes) { return verify(changes)->scopes; };
    EXPECT_EQ(scopes({{"scope", R"(["orch:quota","mail"])"}}), Scopes{Scope::quota});
    EXPECT_EQ(scopes({{"scope", R"("  orch:admin  ")"}}), Scopes{Scope::admin});
    EXPECT_EQ(scopes({{"scope", R"("orch:administrator work ORCH:READ")"}}), Scopes{});
    EXPECT_EQ(scopes({{"scope", ""}, {"scp", R"(["orch:backfill orch:read"])"}}),
              (Scopes{Scope::backfill, Scope::read}));
    EXPECT_EQ(scopes({{"scope", R"("")"}, {"scp", R"("orch:admin")"}}), Scopes{});
    EXPECT_EQ(scopes({{"scope", ""}}), Scopes{});
}

TEST_F(JwtVerifierTest, GivesDefaultScopesOnlyToTokensThatSayNothingAboutThem) {
    settings.default_scopes = {"orch:read"};
    EXPECT_EQ(verify({{"scope", ""}})->scopes, Scopes{Scope::read});
    EXPECT_EQ(verify({{"scope", R"("")"}})->scopes, Scopes{});
}

TEST_F(JwtVerifierTest, AWorkerMayOnlyWork) {
    const auto worker = verify({{"kind", R"("worker")"},
                                {"scope", R"("orch:admin")"},
                                {"all_tenants", "true"},
                                {"job_types", R"(["resize","mail","resize"])"}});
    ASSERT_TRUE(worker);
    EXPECT_EQ(worker->kind, CallerKind::worker);
    EXPECT_EQ(worker->scopes, Scopes{Scope::work});
    EXPECT_EQ(worker->types, (std::vector<std::string>{"mail", "resize"}));
    EXPECT_EQ(worker->tenant, "acme");
    EXPECT_FALSE(worker->any_tenant);
    EXPECT_TRUE(verify({{"kind", R"("worker")"}})->types.empty());
}

TEST_F(JwtVerifierTest, OnlyAnExplicitTrueReachesEveryTenant) {
    EXPECT_TRUE(verify({{"all_tenants", "true"}})->any_tenant);
    for (const char* value : {"", "false", R"("true")", "1", "[true]", "null"}) {
        EXPECT_FALSE(verify({{"all_tenants", value}})->any_tenant) << value;
    }
}

TEST_F(JwtVerifierTest, ReadsTheClaimsThatItsSettingsName) {
    settings.tenant_claim = "sub";
    settings.scope_claim = "rights";
    settings.kind_claim = "as";
    settings.types_claim = "may";
    settings.any_tenant_claim = "";
    const auto service = verify({{"as", R"("service")"},
                                 {"rights", R"("orch:admin")"},
                                 {"", "true"},
                                 {"all_tenants", "true"}});
    ASSERT_TRUE(service);
    EXPECT_EQ(service->tenant, "ada");
    EXPECT_EQ(service->kind, CallerKind::service);
    EXPECT_TRUE(service->is_admin());
    EXPECT_FALSE(service->any_tenant);
    EXPECT_EQ(verify({{"as", R"("worker")"}, {"may", R"("mail")"}})->types,
              std::vector<std::string>{"mail"});
}

TEST_F(JwtVerifierTest, TakesTheDefaultTenantOnlyWhenNoneIsNamed) {
    settings.default_tenant = "everyone";
    EXPECT_EQ(verify({{"tenant", ""}})->tenant, "everyone");
    EXPECT_EQ(verify({})->tenant, "acme");
    EXPECT_FALSE(verify({{"tenant", R"("")"}}));
    EXPECT_FALSE(verify({{"tenant", "null"}}));
}

TEST_F(JwtVerifierTest, RefusesTokensThatLiveTooLong) {
    settings.max_lifetime = 10min;
    EXPECT_TRUE(verify({}));
    EXPECT_FALSE(verify({{"exp", seconds(601s)}}));
    EXPECT_FALSE(verify({{"iat", ""}}));
}

TEST_F(JwtVerifierTest, RefusesSettingsThatMakeNoSense) {
    const auto problem = [](const JwtSettings& wrong) {
        const auto opened = CjoseJwtVerifier::open(wrong);
        return opened ? "" : opened.error().message;
    };
    JwtSettings wrong = settings;
    wrong.issuer = "";
    EXPECT_NE(problem(wrong).find("issuer"), std::string::npos);
    wrong = settings;
    wrong.audience = "";
    EXPECT_NE(problem(wrong).find("audience"), std::string::npos);
    wrong = settings;
    wrong.skew = 61s;
    EXPECT_NE(problem(wrong).find("skew"), std::string::npos);
    wrong = settings;
    wrong.jwks = "/no/such/file";
    EXPECT_EQ(problem(wrong),
              "/no/such/file: the file of auth.jwt.jwks cannot be read: No such file or directory");
    wrong.jwks = "http://issuer.example/jwks";
    EXPECT_NE(problem(wrong).find("must use https"), std::string::npos);
}

}  // namespace cjose_jwt_verifier_test
}  // namespace sluice
