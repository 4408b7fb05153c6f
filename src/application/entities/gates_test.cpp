#include "application/entities/gates.hpp"

#include <gtest/gtest.h>

#include "application/entities/entity_changes.hpp"
#include "json/json_values.hpp"
#include "support/tampered_reader.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace gates_test {

const Gate submit_gate{"start_review", "msuite_submit", ProfileChoice::temp};

class AGate : public testing::Test {
  protected:
    Entity create(const std::string& kind, Attributes attributes, std::string parent = "app1") {
        const auto answer =
            engine.ask(EntityAction{.decide = [=](EntityChanges& changes) -> Result<EntityAnswer> {
                auto made = changes.create({{"default", kind, ""}, parent, attributes});
                if (!made) return made.error();
                return EntityAnswer{.entity = *made};
            }});
        return answer->entity.value();
    }

    Entity change(const Entity& entity, const std::string& name, const std::string& value) {
        const auto answer =
            engine.ask(EntityAction{.decide = [=](EntityChanges& changes) -> Result<EntityAnswer> {
                auto found = changes.find(entity.key);
                found->attributes[name] = value;
                changes.save(*found);
                return EntityAnswer{.entity = *found};
            }});
        return answer->entity.value();
    }

    Entity profile(const std::string& kind) {
        return create("runtime_profile", {{"kind", json_string(kind)}, {"profile_revision", "1"}});
    }

    static JobSpec check_spec(const Entity& entity, const std::string& type,
                              const Attributes& payload) {
        JobSpec made = spec(type);
        made.project = entity.parent;
        made.entity_type = entity.key.kind;
        made.entity_id = entity.key.id;
        made.payload = to_json(payload);
        return made;
    }

    Job check_of(const Entity& entity, const std::string& type, const Attributes& payload) {
        return engine.submit(check_spec(entity, type, payload));
    }

    // A check that ran and succeeded.
    Job pass(const Entity& entity, const std::string& type, Attributes payload) {
        const Job job = check_of(entity, type, std::move(payload));
        const Job run = engine.claim_one({.types = {type}});
        EXPECT_TRUE(engine.report(run, Outcome::succeeded));
        return job;
    }

    void cancel_many(const Entity& entity, int count, const Attributes& payload) {
        Batch batch;
        for (const Job& job : engine.submit_all(std::vector(
                 static_cast<std::size_t>(count), check_spec(entity, "msuite_submit", payload)))) {
            put(batch, CancelJob{.job = job.spec->id});
        }
        engine.run(batch);
    }

    void pass_many(const Entity& entity, int count, const Attributes& payload) {
        engine.submit_all(std::vector(static_cast<std::size_t>(count),
                                      check_spec(entity, "msuite_submit", payload)));
        for (int left = count; left > 0;) {
            Batch batch;
            const Claimed claimed = engine.claim({.types = {"msuite_submit"}}, 100);
            for (const Job& job : claimed) put(batch, report_of(job, Outcome::succeeded));
            engine.run(batch);
            left -= static_cast<int>(claimed.size());
        }
    }

    GateVerdict ask(const Entity& entity, const Gate& gate = submit_gate) {
        return show_gate(*engine.store().reader(), entity, gate);
    }

    TestEngine engine;
    Entity changeset = create("changeset", {{"head_sha", R"("abc")"}});
};

TEST_F(AGate, IsClosedWithoutAJob) {
    const GateVerdict verdict = ask(changeset);
    EXPECT_FALSE(verdict.open);
    EXPECT_EQ(verdict.message, "required msuite_submit job has not succeeded for changeset " +
                                   changeset.key.id + " at head_sha abc; there is no such job yet");
}

TEST_F(AGate, IsClosedWhileTheJobIsQueuedRunningOrHasFailed) {
    const Job job = check_of(changeset, "msuite_submit", {{"head_sha", R"("abc")"}});
    EXPECT_NE(ask(changeset).message.find(to_text(job.spec->id) + ", is queued"),
              std::string::npos);
    const Job run = engine.claim_one();
    EXPECT_NE(ask(changeset).message.find("is running"), std::string::npos);
    engine.report(run, Outcome::failed);
    EXPECT_FALSE(ask(changeset).open);
    EXPECT_NE(ask(changeset).message.find("is failed"), std::string::npos);
}

TEST_F(AGate, OpensWithASuccessAndStaysOpen) {
    pass(changeset, "msuite_submit", {{"head_sha", R"("abc")"}});
    EXPECT_TRUE(ask(changeset).open);
    check_of(changeset, "msuite_submit", {{"head_sha", R"("abc")"}});
    EXPECT_TRUE(ask(changeset).open) << "a later job that has not ended takes nothing away";
}

TEST_F(AGate, IsNotOpenedByADamagedJob) {
    pass(changeset, "msuite_submit", {{"head_sha", R"("abc")"}});
    TamperedReader reader(engine.store());
    Checks checks(reader);
    reader.change_job = [](Job& job) {
        job.damage = "payload";
        change_spec(job, [](JobSpec& spec) { spec.payload = "null"; });
    };
    const GateVerdict verdict = check_gate(checks, reader.entities(), changeset, submit_gate);
    EXPECT_FALSE(verdict.open) << "what was checked is not known any more";
    EXPECT_NE(verdict.message.find("its stored row is damaged"), std::string::npos);
}

TEST_F(AGate, ReadsNoneOfTenThousandChecksThatDidNotSucceed) {
    pass(changeset, "msuite_submit", {{"head_sha", R"("abc")"}});
    cancel_many(changeset, 10'000, {{"head_sha", R"("abc")"}});
    TamperedReader reader(engine.store());
    Checks checks(reader);
    int read = 0;
    reader.change_job = [&](Job&) { ++read; };

    const GateVerdict verdict = check_gate(checks, reader.entities(), changeset, submit_gate);

    EXPECT_TRUE(verdict.open) << "an older success counts";
    EXPECT_EQ(read, 1) << "the success";

    EXPECT_EQ(show_gate(reader, changeset, submit_gate).latest->now.state, JobState::canceled);
    EXPECT_EQ(read, 3) << "whoever asks is told of the latest one, too";
}

TEST_F(AGate, LooksAtSoManySuccessesOfOtherRevisionsAndSaysSo) {
    pass(changeset, "msuite_submit", {{"head_sha", R"("abc")"}});
    pass_many(changeset, checks_looked_at, {{"head_sha", R"("other")"}});
    TamperedReader reader(engine.store());
    Checks checks(reader);
    int read = 0;
    reader.change_job = [&](Job&) { ++read; };

    const GateVerdict verdict = check_gate(checks, reader.entities(), changeset, submit_gate);

    EXPECT_FALSE(verdict.open);
    EXPECT_EQ(read, 1 + checks_looked_at);
    EXPECT_NE(verdict.message.find("older checks than the latest 500 that succeeded"),
              std::string::npos)
        << verdict.message;

    pass(changeset, "msuite_submit", {{"head_sha", R"("abc")"}});
    EXPECT_TRUE(ask(changeset).open) << "a new check comes first";
}

TEST_F(AGate, ThatWasFetchedWithOthersReadsOnBehindTheNewestSuccess) {
    const Entity other = create("changeset", {});
    pass(changeset, "msuite_submit", {{"head_sha", R"("abc")"}});
    pass(changeset, "msuite_submit", {{"head_sha", R"("other")"}});
    const EntityKinds kinds = Catalog::built_in().kinds;
    std::vector<GatedStep> steps;
    for (const Entity& entity : {changeset, other}) {
        steps.push_back({entity, kinds.find("changeset"), submit_gate.action});
    }
    TamperedReader reader(engine.store());
    int read = 0;
    reader.change_job = [&](Job&) { ++read; };
    Checks checks(reader);
    prepare_gates(checks, reader.entities(), steps);
    EXPECT_EQ(read, 1);

    EXPECT_TRUE(check_gate(checks, reader.entities(), changeset, submit_gate).open);
    EXPECT_EQ(read, 2);
    EXPECT_FALSE(check_gate(checks, reader.entities(), other, submit_gate).open);
    EXPECT_EQ(read, 2) << "there is none";
}

TEST_F(AGate, IsBoundToTheRevision) {
    pass(changeset, "msuite_submit", {{"head_sha", R"("abc")"}});
    const Entity changed = change(changeset, "head_sha", R"("def")");
    const GateVerdict verdict = ask(changed);
    EXPECT_FALSE(verdict.open);
    EXPECT_NE(verdict.message.find("for another revision"), std::string::npos);
    pass(changed, "msuite_submit", {{"head_sha", R"("def")"}});
    EXPECT_TRUE(ask(changed).open);
}

TEST_F(AGate, DoesNotTakeAnotherEntitysOrAppsOrTypesJob) {
    const Entity other = create("changeset", {{"head_sha", R"("abc")"}});
    Entity abroad = changeset;
    abroad.parent = "app2";
    pass(other, "msuite_submit", {{"head_sha", R"("abc")"}});
    pass(abroad, "msuite_submit", {{"head_sha", R"("abc")"}});
    pass(changeset, "msuite_merge", {{"head_sha", R"("abc")"}});
    EXPECT_FALSE(ask(changeset).open);
}

TEST_F(AGate, FindsAnOldSuccessBehindManyFailures) {
    pass(changeset, "msuite_submit", {{"head_sha", R"("abc")"}});
    for (int i = 0; i < 120; ++i) {
        const Job job = check_of(changeset, "msuite_submit", {{"head_sha", R"("abc")"}});
        engine.cancel(job.spec->id);
    }
    EXPECT_TRUE(ask(changeset).open);
}

TEST_F(AGate, OfSubmitCountsTempProfilesOnly) {
    const Entity temp = profile("temp_changeset");
    const Entity persistent = profile("persistent_env");
    Attributes payload{{"head_sha", R"("abc")"}};
    add_profile(payload, persistent);
    pass(changeset, "msuite_submit", payload);
    EXPECT_FALSE(ask(changeset).open);
    EXPECT_NE(ask(changeset).message.find("runtime profile " + temp.key.id), std::string::npos);

    add_profile(payload, temp);
    pass(changeset, "msuite_submit", payload);
    EXPECT_TRUE(ask(changeset).open);

    change(temp, "profile_revision", "2");
    EXPECT_FALSE(ask(changeset).open) << "the profile has changed since";
}

TEST_F(AGate, OfPublishAsksForEveryEnvironmentProfile) {
    const Entity release = create("release", {{"head_sha", R"("r1")"}});
    const Gate gate{"publish", "msuite_merge", ProfileChoice::environments};
    const Entity one = profile("persistent_env");
    const Entity two = profile("persistent_env");
    profile("temp_workspace");
    for (const Entity& tested : {one, two}) {
        EXPECT_FALSE(ask(release, gate).open);
        Attributes payload{{"head_sha", R"("r1")"}};
        add_profile(payload, tested);
        pass(release, "msuite_merge", payload);
    }
    EXPECT_TRUE(ask(release, gate).open);
}

TEST_F(AGate, OfDeployAsksForTheTargetsProfileOnly) {
    const Entity wanted = profile("persistent_env");
    const Entity other = profile("persistent_env");
    const Entity environment =
        create("environment", {{"runtime_profile_id", json_string(wanted.key.id)}});
    const Entity deployment =
        create("deployment", {{"environment_id", json_string(environment.key.id)}});
    const Gate gate{"start", "msuite_deploy", ProfileChoice::target};
    Attributes payload;
    add_profile(payload, other);
    pass(deployment, "msuite_deploy", payload);
    EXPECT_FALSE(ask(deployment, gate).open);
    add_profile(payload, wanted);
    pass(deployment, "msuite_deploy", payload);
    EXPECT_TRUE(ask(deployment, gate).open);
}

TEST_F(AGate, TakesTheProfilesThatItsAppHasChosen) {
    const Entity app = create("app", {{"gates", R"({"submit":"none"})"}}, "");
    const Entity mine = create("changeset", {}, app.key.id);
    const EntityKinds kinds = Catalog::built_in().kinds;
    const auto reader = engine.store().reader();

    const auto chosen = gates_before(reader->entities(), mine, *kinds.find("changeset"), "queue");
    const auto usual =
        gates_before(reader->entities(), changeset, *kinds.find("changeset"), "queue");

    ASSERT_EQ(chosen.size(), 1U);
    EXPECT_EQ(chosen[0].profiles, ProfileChoice::none);
    EXPECT_EQ(usual[0].profiles, ProfileChoice::temp);
}

TEST_F(AGate, StopsTheActionItStandsBefore) {
    const auto act = [&](const std::string& action) {
        return engine.ask(EntityAction{
            .decide = [=, key = changeset.key](EntityChanges& changes) -> Result<EntityAnswer> {
                auto found = changes.find(key);
                if (auto refusal = changes.act(*found, action)) return *std::move(refusal);
                return EntityAnswer{.entity = *found};
            }});
    };
    const auto submitted = act("submit");
    ASSERT_TRUE(submitted);
    ASSERT_EQ(submitted->jobs.size(), 1U);
    EXPECT_EQ(submitted->jobs[0].spec->type, "msuite_submit");
    EXPECT_EQ(text_of(json_members(submitted->jobs[0].spec->payload), "head_sha"), "abc");

    EXPECT_EQ(refusal(act("start_review")), ErrorCode::gate_closed);
    engine.report(engine.claim_one(), Outcome::succeeded);
    EXPECT_TRUE(act("start_review"));
}

}  // namespace gates_test
}  // namespace sluice
