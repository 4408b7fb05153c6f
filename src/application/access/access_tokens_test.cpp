#include "application/access/access_tokens.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace access_tokens_test {

using namespace std::chrono_literals;

const std::string secret(43, 's');

class AccessTokens : public testing::Test {
  protected:
    static Caller admin_of(const std::string& tenant) {
        return {.tenant = tenant, .name = "ruth", .scopes = {Scope::admin}};
    }
    static Caller overall_admin() {
        Caller caller = admin_of("default");
        caller.any_tenant = true;
        return caller;
    }
    NewToken wish(CallerKind kind = CallerKind::user) const {
        return {
            .name = "ada", .kind = kind, .expires = engine.now() + 1h, .secret = sha256(secret)};
    }

    Told<EntityAnswer> create(const Caller& by, const NewToken& wanted) {
        return engine.ask(EntityAction{
            .decide = [=](EntityChanges& changes) { return create_token(changes, by, wanted); }});
    }
    Told<EntityAnswer> revoke(const Caller& by, const std::string& id) {
        return engine.ask(EntityAction{
            .decide = [=](EntityChanges& changes) { return revoke_token(changes, by, id); }});
    }
    AccessToken created(const NewToken& wanted) {
        const auto answer = create(overall_admin(), wanted);
        if (!answer) throw std::logic_error(answer.error().message);
        return read_token(*answer->entity);
    }
    std::vector<std::string> names(const std::string& tenant) {
        std::vector<std::string> names;
        const auto reader = engine.store().reader();
        for (const AccessToken& token : list_tokens(reader->entities(), operator_caller, tenant)) {
            names.push_back(token.caller.name);
        }
        return names;
    }

    TestEngine engine;
};

TEST_F(AccessTokens, AreReadBackAsTheyWereMade) {
    NewToken wanted = wish(CallerKind::service);
    wanted.tenant = "shop";
    wanted.any_tenant = true;
    wanted.scopes = {Scope::read, Scope::backfill};
    const AccessToken token = created(wanted);

    EXPECT_EQ(token.id.size(), 24u);
    EXPECT_EQ(token.caller.name, "ada");
    EXPECT_EQ(token.caller.kind, CallerKind::service);
    EXPECT_EQ(token.caller.tenant, "shop");
    EXPECT_TRUE(token.caller.any_tenant);
    EXPECT_EQ(token.caller.scopes, wanted.scopes);
    EXPECT_EQ(token.caller.credential, "token " + token.id);
    EXPECT_EQ(token.caller.expires, wanted.expires);
    EXPECT_EQ(token.secret, sha256(secret));
    EXPECT_EQ(token.created_by, "user:ruth");
    EXPECT_EQ(token.created_at, engine.now());
    EXPECT_FALSE(token.revoked_at);
}

TEST_F(AccessTokens, NeverKeepTheSecretItself) {
    const AccessToken token = created(wish());
    const auto reader = engine.store().reader();
    const auto entity = reader->entities().find_one(token_key(token.id));
    for (const auto& [name, value] : entity->attributes) {
        EXPECT_EQ(value.find(secret), std::string::npos) << name;
    }
    for (const EntityEvent& event : reader->entities().events(token_key(token.id), 0, 10)) {
        EXPECT_EQ(event.detail.find(secret), std::string::npos);
    }
}

TEST_F(AccessTokens, AreMadeByAdminsOnly) {
    for (const Scopes scopes :
         {Scopes{}, Scopes{Scope::read, Scope::operate, Scope::quota}, Scopes{Scope::work}}) {
        Caller caller = overall_admin();
        caller.scopes = scopes;
        EXPECT_EQ(refusal(create(caller, wish())), ErrorCode::forbidden);
    }
}

TEST_F(AccessTokens, OfAnotherTenantOrOfAllAreNotForAnAdminOfOneTenantToMake) {
    NewToken own = wish();
    own.tenant = "shop";
    EXPECT_TRUE(create(admin_of("shop"), own));
    EXPECT_EQ(refusal(create(admin_of("shop"), wish())), ErrorCode::forbidden);
    own.any_tenant = true;
    EXPECT_EQ(refusal(create(admin_of("shop"), own)), ErrorCode::forbidden);
    EXPECT_TRUE(create(overall_admin(), own));
}

TEST_F(AccessTokens, AreForNoTenantOfTheEnginesOwn) {
    for (const char* tenant : {"@sluice", "@", ""}) {
        NewToken wanted = wish();
        wanted.tenant = tenant;
        EXPECT_EQ(refusal(create(overall_admin(), wanted)), ErrorCode::invalid) << tenant;
    }
}

TEST_F(AccessTokens, OfWorkersHaveTypesAndOneTenantAndNoScopes) {
    NewToken wanted = wish(CallerKind::worker);
    wanted.types = {"mail", "build", "mail"};
    const AccessToken token = created(wanted);
    EXPECT_EQ(token.caller.types, (std::vector<std::string>{"build", "mail"}));
    EXPECT_EQ(token.caller.scopes, Scopes{Scope::work});

    NewToken scoped = wish(CallerKind::worker);
    scoped.scopes = {Scope::read};
    EXPECT_EQ(refusal(create(overall_admin(), scoped)), ErrorCode::invalid);
    NewToken everywhere = wish(CallerKind::worker);
    everywhere.any_tenant = true;
    EXPECT_EQ(refusal(create(overall_admin(), everywhere)), ErrorCode::invalid);
    NewToken user = wish();
    user.types = {"mail"};
    EXPECT_EQ(refusal(create(overall_admin(), user)), ErrorCode::invalid);
}

TEST_F(AccessTokens, NeedANameAndAnEndInTheFuture) {
    NewToken nameless = wish();
    nameless.name = "";
    EXPECT_EQ(refusal(create(overall_admin(), nameless)), ErrorCode::invalid);
    NewToken broken = wish();
    broken.name = "a\nb";
    EXPECT_TRUE(refusal(create(overall_admin(), broken)));
    NewToken past = wish();
    past.expires = engine.now();
    EXPECT_EQ(refusal(create(overall_admin(), past)), ErrorCode::invalid);
}

TEST_F(AccessTokens, AreGoodUntilTheyExpireOrAreRevoked) {
    const AccessToken token = created(wish());
    EXPECT_TRUE(token.is_valid(engine.now()));
    EXPECT_TRUE(token.is_valid(engine.now() + 1h - 1us));
    EXPECT_FALSE(token.is_valid(engine.now() + 1h));

    engine.sleep(1min);
    const auto answer = revoke(overall_admin(), token.id);
    ASSERT_TRUE(answer);
    const AccessToken revoked = read_token(*answer->entity);
    EXPECT_FALSE(revoked.is_valid(engine.now()));
    EXPECT_EQ(revoked.revoked_at, engine.now());

    engine.sleep(1min);
    const auto again = revoke(overall_admin(), token.id);
    ASSERT_TRUE(again);
    EXPECT_EQ(read_token(*again->entity).revoked_at, revoked.revoked_at);
}

TEST_F(AccessTokens, OfOtherTenantsAreNotThereForWhoWouldRevokeThem) {
    const AccessToken token = created(wish());
    EXPECT_EQ(refusal(revoke(admin_of("shop"), token.id)), ErrorCode::not_found);
    EXPECT_EQ(refusal(revoke(admin_of("shop"), std::string(24, '0'))), ErrorCode::not_found);
    EXPECT_TRUE(revoke(admin_of("default"), token.id));
    Caller reader = overall_admin();
    reader.scopes = {Scope::read};
    EXPECT_EQ(refusal(revoke(reader, token.id)), ErrorCode::forbidden);
}

TEST_F(AccessTokens, AreListedByTenantNewestFirst) {
    for (const auto& [name, tenant] :
         {std::pair("one", "default"), std::pair("two", "shop"), std::pair("three", "default")}) {
        NewToken wanted = wish();
        wanted.name = name;
        wanted.tenant = tenant;
        created(wanted);
        engine.sleep(1s);
    }
    EXPECT_EQ(names("default"), (std::vector<std::string>{"three", "one"}));
    EXPECT_EQ(names("shop"), (std::vector<std::string>{"two"}));
    EXPECT_EQ(names(""), (std::vector<std::string>{"three", "two", "one"}));
    EXPECT_TRUE(names("elsewhere").empty());
}

TEST(TokenTextTest, IsTakenApartAsItWasPutTogether) {
    const std::string id = "0123456789abcdef01234567";
    const std::string text = token_text(id, secret);
    const auto parts = parse_token(text);
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->id, id);
    EXPECT_EQ(parts->secret, secret);
}

TEST(TokenTextTest, IsNothingElse) {
    const std::string good = token_text("0123456789abcdef01234567", secret);
    std::string upper = good;
    upper[14] = 'A';
    std::string no_mark = good;
    no_mark[28] = '-';
    for (const std::string& text :
         {std::string(), std::string("slu_"), good + "x", good.substr(0, good.size() - 1),
          good.substr(4), "SLU_" + good.substr(4), upper, no_mark}) {
        EXPECT_FALSE(parse_token(text)) << text;
    }
}

TEST(ScopesTest, OfAnAdminAllowEverythingAndThoseOfAnOperatorReading) {
    EXPECT_TRUE(Scopes{Scope::admin}.allow(Scope::work));
    EXPECT_TRUE(Scopes{Scope::admin}.allow(Scope::quota));
    EXPECT_TRUE(Scopes{Scope::operate}.allow(Scope::read));
    EXPECT_FALSE(Scopes{Scope::read}.allow(Scope::operate));
    EXPECT_FALSE(Scopes{Scope::operate}.allow(Scope::work));
    EXPECT_FALSE(Scopes{}.allow(Scope::read));
    EXPECT_FALSE(parse_scope("work"));  // that only workers have, and no token can be given
}

}  // namespace access_tokens_test
}  // namespace sluice
