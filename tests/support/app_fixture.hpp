#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "application/apps/app_changes.hpp"
#include "json/json_values.hpp"
#include "support/test_engine.hpp"

namespace sluice::apps {

// An app with one member of each role, and its jobs run by the test. Helper calls throw when they
// fail.
class AppFixture : public testing::Test {
  protected:
    AppFixture() {
        app = granted(call(create_app, ruth, "", Attributes{{"name", R"("shop")"}})).key.id;
        granted(call(put_member, ruth, app, ada.name, Role::user));
        granted(call(put_member, ruth, app, rex.name, Role::reviewer));
        granted(call(put_member, ruth, app, cora.name, Role::config_manager));
    }

    // Posts a change as a command of its own.
    template <class Change, class... Arguments>
    Told<EntityAnswer> call(Change change, const Caller& caller, Arguments... arguments) {
        return engine.ask(EntityAction{.decide = [=](EntityChanges& changes) {
            return change(changes, caller, arguments...);
        }});
    }

    static Entity granted(const Told<EntityAnswer>& answer) {
        if (!answer) throw std::logic_error(answer.error().message);
        return answer->entity.value();
    }

    Entity find(const std::string& kind, const std::string& id) {
        return engine.store().reader()->entities().find_one({"default", kind, id}).value();
    }
    std::string state(const std::string& kind, const std::string& id) {
        return find(kind, id).state;
    }
    std::vector<std::string> actions(const std::string& kind, const std::string& id) {
        std::vector<std::string> actions;
        for (const EntityEvent& event :
             engine.store().reader()->entities().events({"default", kind, id}, 0, 1000)) {
            actions.push_back(event.action);
        }
        return actions;
    }

    // ── jobs ──
    Job run(const std::string& type, Outcome outcome = Outcome::succeeded,
            std::string result = "") {
        const Job job = engine.claim_one({.types = {type}});
        Report report = report_of(job, outcome);
        report.result = std::move(result);
        report.retryable = false;
        if (const auto told = engine.ask(report); !told) {
            throw std::logic_error(told.error().message);
        }
        return job;
    }
    std::vector<Job> jobs_of(const std::string& type) {
        auto jobs = engine.store().reader()->list({.type = type}, newest, 1000);
        std::reverse(jobs.begin(), jobs.end());
        return jobs;
    }
    static Attributes payload_of(const Job& job) { return json_members(job.spec->payload); }

    // ── the beginning of a test ──
    std::string draft(const std::string& head_sha = "h1") {
        return granted(call(create_changeset, ada, app,
                            Attributes{{"title", R"("a change")"},
                                       {"head_sha", json_string(head_sha)},
                                       {"base_sha", R"("b1")"}}))
            .key.id;
    }
    std::string submitted(const std::string& head_sha = "h1") {
        const std::string id = draft(head_sha);
        granted(call(submit_changeset, ada, app, id, ""));
        return id;
    }
    std::string approved(const std::string& head_sha = "h1") {
        const std::string id = submitted(head_sha);
        run("msuite_submit");
        granted(call(review_changeset, rex, app, id, Decision::approve, "good"));
        return id;
    }
    std::string queued(const std::string& head_sha = "h1") {
        const std::string id = approved(head_sha);
        granted(call(queue_changeset, cora, app, id));
        run("msuite_merge");
        return id;
    }
    std::string draft_release(const std::vector<std::string>& changesets = {}) {
        return granted(call(create_release, cora, app, Attributes{}, changesets)).key.id;
    }
    std::string validated_release(const std::vector<std::string>& changesets = {}) {
        const std::string id = draft_release(changesets);
        granted(call(assemble_release, cora, app, id));
        run("release_assemble", Outcome::succeeded, R"({"head_sha":"r1"})");
        return id;
    }
    std::string published_release() {
        queued();
        const std::string id = validated_release();
        while (!engine.store()
                    .reader()
                    ->list({.states = {JobState::queued}, .type = "msuite_merge"}, newest, 1)
                    .empty()) {
            run("msuite_merge");
        }
        granted(call(publish_release, cora, app, id));
        return id;
    }
    std::string profile(const std::string& kind = "persistent_env", Attributes more = {}) {
        more["kind"] = json_string(kind);
        return granted(call(create_profile, cora, app, more)).key.id;
    }
    std::string environment(const std::string& profile_id = "") {
        Attributes attributes{{"name", R"("prod")"}};
        if (!profile_id.empty()) attributes["runtime_profile_id"] = json_string(profile_id);
        return granted(call(create_environment, cora, app, attributes)).key.id;
    }

    TestEngine engine;
    Caller ada{.name = "ada"};    // user, and the author of changesets
    Caller rex{.name = "rex"};    // reviewer
    Caller cora{.name = "cora"};  // config_manager
    Caller ruth{.name = "ruth"};  // app_admin
    Caller eve{.name = "eve"};    // no member
    Caller root{.name = "root", .scopes = {Scope::admin}};
    std::string app;
};

}  // namespace sluice::apps
