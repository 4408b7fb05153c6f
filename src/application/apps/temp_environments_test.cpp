#include "support/app_fixture.hpp"

namespace sluice::apps {
namespace temp_environments_test {

using namespace std::chrono_literals;

class ATempEnvironment : public AppFixture {
  protected:
    std::string created(Attributes attributes = {}) {
        return granted(call(create_temp_environment, ada, app, attributes)).key.id;
    }
    std::string active(Attributes attributes = {}) {
        const std::string id = created(std::move(attributes));
        run("temp_env_provision", Outcome::succeeded, R"({"url":"https://t"})");
        return id;
    }
    std::string state_of(const std::string& id) { return state("temp_environment", id); }
};

TEST_F(ATempEnvironment, IsProvisionedByAJob) {
    const std::string temp = profile("temp_workspace");
    const auto answer =
        call(create_temp_environment, ada, app,
             Attributes{{"runtime_profile_id", json_string(temp)}, {"ttl_seconds", "3600"}});

    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->entity->state, "provisioning");
    ASSERT_EQ(answer->jobs.size(), 1u);
    const Job& job = answer->jobs.front();
    EXPECT_EQ(job.spec->type, "temp_env_provision");
    EXPECT_EQ(text_of(payload_of(job), "temp_environment_id"), answer->entity->key.id);
    EXPECT_EQ(text_of(payload_of(job), "runtime_profile_id"), temp);
    run("temp_env_provision", Outcome::succeeded, R"({"url":"https://t"})");

    const Entity found = find("temp_environment", answer->entity->key.id);
    EXPECT_EQ(found.state, "active");
    EXPECT_EQ(text_of(found.attributes, "url"), "https://t");
    EXPECT_EQ(time_of(found.attributes, "expires_at"), engine.now() + 1h);
    const std::vector<Job> expiries = jobs_of("temp_env_expire");
    ASSERT_EQ(expiries.size(), 1u);
    EXPECT_EQ(expiries.front().now.run_after, engine.now() + 1h);
}

TEST_F(ATempEnvironment, FailsWithItsProvisioning) {
    const std::string id = created();

    run("temp_env_provision", Outcome::failed);

    EXPECT_EQ(state_of(id), "failed");
    EXPECT_TRUE(jobs_of("temp_env_expire").empty());
    granted(call(expire_temp_environment, ada, app, id));
    run("temp_env_expire");
    EXPECT_EQ(state_of(id), "expired") << "what is half there can be taken away";
}

TEST_F(ATempEnvironment, LivesForADayAndIsThenExpired) {
    const std::string id = active();

    engine.advance(24h - 1s);
    EXPECT_TRUE(engine.claim({.types = {"temp_env_expire"}}).empty());
    engine.advance(1s);
    const Job job = engine.claim_one({.types = {"temp_env_expire"}});
    EXPECT_EQ(state_of(id), "expiring");
    engine.report(job, Outcome::succeeded);

    EXPECT_EQ(state_of(id), "expired");
}

TEST_F(ATempEnvironment, CanBeExpiredBeforeItsTime) {
    const std::string id = active();

    const auto answer = call(expire_temp_environment, ada, app, id);
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->jobs.size(), 1u);
    EXPECT_EQ(refusal(call(expire_temp_environment, cora, app, id)), ErrorCode::conflict)
        << "it is on its way";
    run("temp_env_expire");
    EXPECT_EQ(state_of(id), "expired");

    EXPECT_EQ(refusal(call(expire_temp_environment, cora, app, id)), ErrorCode::invalid_transition);
    engine.advance(25h);
    EXPECT_TRUE(engine.claim({.types = {"temp_env_expire"}}).empty())
        << "the job that was to expire it has nothing left to do";
    EXPECT_EQ(state_of(id), "expired");
}

TEST_F(ATempEnvironment, FailsWithItsExpiry) {
    const std::string id = active();
    granted(call(expire_temp_environment, cora, app, id));

    run("temp_env_expire", Outcome::failed);

    EXPECT_EQ(state_of(id), "failed");
}

TEST_F(ATempEnvironment, IsExpiredByItsOwnerOrAConfigManagerOnceItIsThere) {
    const std::string id = created();
    EXPECT_EQ(refusal(call(expire_temp_environment, ada, app, id)), ErrorCode::invalid_transition);
    run("temp_env_provision");

    EXPECT_EQ(refusal(call(expire_temp_environment, rex, app, id)), ErrorCode::forbidden);
    granted(call(expire_temp_environment, cora, app, id));
}

TEST_F(ATempEnvironment, RefusesWhatMakesNoSense) {
    const std::string persistent = profile("persistent_env");
    const std::pair<Attributes, const char*> mistakes[] = {
        {{{"ttl_seconds", "59"}}, "/ttl_seconds"},
        {{{"ttl_seconds", "2592001"}}, "/ttl_seconds"},
        {{{"ttl_seconds", R"("60")"}}, "/ttl_seconds"},
        {{{"changeset_id", R"("none")"}}, "/changeset_id"},
        {{{"runtime_profile_id", R"("none")"}}, "/runtime_profile_id"},
        {{{"runtime_profile_id", json_string(persistent)}}, "/runtime_profile_id"},
    };
    for (const auto& [attributes, pointer] : mistakes) {
        const auto answer = call(create_temp_environment, ada, app, attributes);
        ASSERT_EQ(refusal(answer), ErrorCode::invalid) << pointer;
        EXPECT_EQ(answer.error().pointer, pointer);
    }
    EXPECT_EQ(engine.count_jobs(), 0u);
    active({{"ttl_seconds", "60"}, {"changeset_id", json_string(draft())}});
    active({{"ttl_seconds", "2592000"}});
}

}  // namespace temp_environments_test
}  // namespace sluice::apps
