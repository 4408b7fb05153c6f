#include "support/app_fixture.hpp"

namespace sluice::apps {
namespace profiles_test {

class AProfile : public AppFixture {
  protected:
    std::int64_t revision_after(const Attributes& wanted) {
        const Entity changed = granted(call(update_profile, cora, app, id, wanted));
        return integer_of(changed.attributes, "profile_revision").value();
    }

    std::string id = profile("persistent_env", {{"env_vars", R"({"A":"1","B":"2"})"},
                                                {"secrets", R"({"TOKEN":"hush"})"},
                                                {"database", R"({"pool":{"max":5,"min":1}})"}});
};

TEST_F(AProfile, KeepsSecretsAsDigestsOfItsOwn) {
    const std::string other = profile("temp_workspace", {{"secrets", R"({"TOKEN":"hush"})"}});

    const std::string secrets = find("runtime_profile", id).attributes.at("secrets");
    EXPECT_EQ(secrets.find("hush"), std::string::npos);
    EXPECT_TRUE(secrets.starts_with(R"({"TOKEN":{"sha256":")")) << secrets;
    EXPECT_NE(find("runtime_profile", other).attributes.at("secrets"), secrets)
        << "equal secrets of two profiles look different";
    const auto reader = engine.store().reader();
    for (const EntityEvent& event :
         reader->entities().events({"default", "runtime_profile", id}, 0, 100)) {
        EXPECT_EQ(event.detail.find("hush"), std::string::npos);
    }
}

TEST_F(AProfile, CountsTheChangesOfWhatRunsUnderIt) {
    EXPECT_EQ(revision_after({{"env_vars", R"({"A":"2"})"}}), 2);
    EXPECT_EQ(revision_after({{"secrets", R"({"TOKEN":"other"})"}}), 3);
    EXPECT_EQ(revision_after({{"url", R"("https://a")"}}), 4);
    EXPECT_EQ(revision_after({{"database", R"({"pool":{}})"}}), 5);
    EXPECT_EQ(revision_after({{"url", "null"}}), 6);
    EXPECT_FALSE(find("runtime_profile", id).attributes.contains("url"));
}

TEST_F(AProfile, DoesNotCountWhatStaysTheSame) {
    EXPECT_EQ(revision_after({{"name", R"("production")"}}), 1);
    EXPECT_EQ(revision_after({{"env_vars", R"({ "B" : "2", "A" : "\u0031" })"}}), 1);
    EXPECT_EQ(revision_after({{"secrets", R"({"TOKEN":"hush"})"}}), 1);
    EXPECT_EQ(revision_after({{"database", R"({"pool": {"min":1, "max":5}})"}}), 1);
}

TEST_F(AProfile, KeepsASecretThatIsSentBackAsItIsShown) {
    const std::string other =
        profile("persistent_env", {{"env_vars", R"({"AUTH_TOKEN":"hush","MODE":"a"})"},
                                   {"database", R"({"main":{"host":"db","password":"pw"}})"}});

    const Entity changed = granted(
        call(update_profile, cora, app, other,
             Attributes{{"env_vars", R"({"AUTH_TOKEN":"***","MODE":"b"})"},
                        {"database", R"({"main":{"host":"db2","password":"***"},"read":null})"}}));

    EXPECT_EQ(changed.attributes.at("env_vars"), R"({"AUTH_TOKEN":"hush","MODE":"b"})");
    EXPECT_EQ(changed.attributes.at("database"),
              R"({"main":{"host":"db2","password":"pw"},"read":null})");
    const auto unknown = call(update_profile, cora, app, other,
                              Attributes{{"env_vars", R"({"OTHER_TOKEN":"***"})"}});
    ASSERT_EQ(refusal(unknown), ErrorCode::invalid);
    EXPECT_EQ(unknown.error().pointer, "/env_vars/OTHER_TOKEN");
    const auto copied =
        call(create_profile, cora, app,
             Attributes{{"kind", R"("persistent_env")"}, {"env_vars", R"({"AUTH_TOKEN":"***"})"}});
    EXPECT_EQ(refusal(copied), ErrorCode::invalid) << "its value would be lost";
}

TEST_F(AProfile, RefusesWhatMakesNoSense) {
    const std::pair<Attributes, const char*> mistakes[] = {
        {{}, "/kind"},
        {{{"kind", R"("staging")"}}, "/kind"},
        {{{"kind", R"("persistent_env")"}, {"env_vars", "[]"}}, "/env_vars"},
        {{{"kind", R"("persistent_env")"}, {"secrets", R"({"A":7})"}}, "/secrets/A"},
        {{{"kind", R"("persistent_env")"}, {"database", R"({"a":{"b":1,"b":2}})"}},
         "/database/a/b"},
    };
    for (const auto& [attributes, pointer] : mistakes) {
        const auto answer = call(create_profile, cora, app, attributes);
        ASSERT_EQ(refusal(answer), ErrorCode::invalid) << pointer;
        EXPECT_EQ(answer.error().pointer, pointer);
    }
    EXPECT_EQ(
        refusal(call(update_profile, cora, app, id, Attributes{{"kind", R"("temp_workspace")"}})),
        ErrorCode::invalid);
    EXPECT_EQ(refusal(call(update_profile, cora, app, id, Attributes{{"secrets", R"({"A":[]})"}})),
              ErrorCode::invalid);
    EXPECT_EQ(refusal(call(update_profile, rex, app, id, Attributes{})), ErrorCode::forbidden);
}

TEST_F(AProfile, FitsEnvironmentsByItsKind) {
    const std::string temp = profile("temp_workspace");
    const Attributes with{{"runtime_profile_id", json_string(temp)}};

    EXPECT_EQ(refusal(call(create_environment, cora, app, with)), ErrorCode::invalid);
    EXPECT_EQ(refusal(call(update_environment, cora, app, environment(id), with)),
              ErrorCode::invalid);
}

}  // namespace profiles_test
}  // namespace sluice::apps
