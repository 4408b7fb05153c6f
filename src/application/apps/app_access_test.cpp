#include "support/app_fixture.hpp"

namespace sluice::apps {
namespace app_access_test {

class AnApp : public AppFixture {};

TEST_F(AnApp, HasItsCreatorAsItsFirstAdmin) {
    const Entity found = find("app", app);

    EXPECT_EQ(role_of(found, ruth), Role::app_admin);
    EXPECT_EQ(role_of(found, ada), Role::user);
    EXPECT_EQ(role_of(found, eve), std::nullopt);
    EXPECT_EQ(found.key.id.size(), 24u);
}

TEST_F(AnApp, CanHaveAnIdOfItsOwnOnce) {
    EXPECT_EQ(granted(call(create_app, eve, "books", Attributes{})).key.id, "books");
    EXPECT_EQ(refusal(call(create_app, ada, "books", Attributes{})), ErrorCode::conflict);
}

TEST_F(AnApp, IsNotFoundUnderAnotherIdAndForbiddenToStrangers) {
    EXPECT_EQ(refusal(call(create_changeset, ada, "none", Attributes{})), ErrorCode::not_found);
    EXPECT_EQ(refusal(call(create_changeset, eve, app, Attributes{})), ErrorCode::forbidden);

    const auto reader = engine.store().reader();
    EXPECT_TRUE(find_app(reader->entities(), ada, app));
    EXPECT_EQ(refusal(find_app(reader->entities(), eve, app)), ErrorCode::forbidden);
    EXPECT_EQ(refusal(find_app(reader->entities(), ada, "none")), ErrorCode::not_found);
    EXPECT_EQ(refusal(find_app(reader->entities(), rex, app, Role::config_manager)),
              ErrorCode::forbidden);
}

TEST_F(AnApp, IsOpenToAdminsWhoAreNoMembers) {
    granted(call(update_app, root, app, Attributes{{"name", R"("store")"}}));

    EXPECT_EQ(text_of(find("app", app).attributes, "name"), "store");
}

TEST_F(AnApp, GivesRolesOnlyByItsAdmins) {
    EXPECT_EQ(refusal(call(put_member, cora, app, "eve", Role::user)), ErrorCode::forbidden);
    EXPECT_EQ(refusal(call(update_app, cora, app, Attributes{})), ErrorCode::forbidden);

    granted(call(put_member, ruth, app, "eve", Role::user));
    granted(call(put_member, ruth, app, "eve", Role::reviewer));

    EXPECT_EQ(role_of(find("app", app), eve), Role::reviewer);
}

TEST_F(AnApp, KeepsWhatBelongsToAnotherAppApart) {
    const std::string other = granted(call(create_app, cora, "", Attributes{})).key.id;
    const std::string id = draft();

    EXPECT_EQ(refusal(call(submit_changeset, cora, other, id, "")), ErrorCode::not_found);
    EXPECT_EQ(refusal(call(create_release, cora, other, Attributes{}, std::vector{id})),
              ErrorCode::invalid);
}

TEST_F(AnApp, RefusesSettingsThatMakeNoSense) {
    const std::pair<Attributes, const char*> mistakes[] = {
        {{{"approvals_required", "0"}}, "/approvals_required"},
        {{{"approvals_required", "101"}}, "/approvals_required"},
        {{{"approvals_required", R"("1")"}}, "/approvals_required"},
        {{{"gates", R"({"submit":"all"})"}}, "/gates/submit"},
        {{{"gates", R"({"merge":"temp"})"}}, "/gates/merge"},
        {{{"gates", R"({"submit":7})"}}, "/gates/submit"},
    };
    for (const auto& [settings, pointer] : mistakes) {
        const auto answer = call(update_app, ruth, app, settings);
        ASSERT_EQ(refusal(answer), ErrorCode::invalid) << pointer;
        EXPECT_EQ(answer.error().pointer, pointer);
        EXPECT_EQ(refusal(call(create_app, ruth, "", settings)), ErrorCode::invalid);
    }
    granted(call(update_app, ruth, app,
                 Attributes{{"approvals_required", "2"},
                            {"gates", R"({"submit":"none","publish":"target"})"}}));
}

TEST(AppRoles, AreRankedAndHaveNames) {
    EXPECT_LT(Role::user, Role::reviewer);
    EXPECT_LT(Role::reviewer, Role::config_manager);
    EXPECT_LT(Role::config_manager, Role::app_admin);
    for (const char* name : {"user", "reviewer", "config_manager", "app_admin"}) {
        EXPECT_EQ(to_text(parse_role(name).value()), name);
    }
    EXPECT_EQ(parse_role("owner"), std::nullopt);
}

}  // namespace app_access_test
}  // namespace sluice::apps
