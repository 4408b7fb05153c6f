// Kinds of entities that the operator declares, and gates.
#include "conformance/sites.hpp"

namespace sluice::e2e {
namespace sites_kinds_test {

constexpr const char* dataset = R"(
[entities.dataset]
initial = "raw"
transitions = [
  {action = "clean", from = ["raw", "clean"], to = "cleaning"},
  {action = "cleaned", from = ["cleaning"], to = "clean"},
  {action = "soiled", from = ["cleaning"], to = "raw"},
  {action = "publish", from = ["clean"], to = "public"},
  {action = "withdraw", from = ["public"], to = "clean"},
]
gates = [{action = "publish", job_type = "audit"}]
orders = [{action = "publish", job_type = "announce", carries = ["title"]}]
[[entities.dataset.follows]]
job_type = "clean_up"
on_start = "clean"
on_success = "cleaned"
on_failure = "soiled"
)";

class SitesKinds : public SitesTest {
  protected:
    void SetUp() override {
        serve(dataset);
        expect_ok(post("/api/v1/entities",
                       {{"kind", "dataset"}, {"id", "d"}, {"attributes", {{"title", "Rain"}}}}),
                  201);
    }
    // A job about the dataset that a worker has claimed.
    Json take(const std::string& type) {
        api().submit({{"type", type}, {"entity_type", "dataset"}, {"entity_id", "d"}});
        return api().claim_one({{"types", List{Json(type)}}});
    }
    Response act(const std::string& action) {
        return post("/api/v1/entities/dataset/d", {{"action", action}});
    }
    Response check(const Fields& more) {
        Fields fields{{"entity_type", "dataset"}, {"entity_id", "d"}};
        for (const auto& field : more) fields[field.key()] = field.value();
        return post("/api/v1/gates/check", fields);
    }
    std::string state() { return text(entity("dataset", "d"), "state"); }
    void clean_it() { expect_ok(api().succeed(take("clean_up"))); }
};

TEST_F(SitesKinds, ThatTheOperatorDeclaresMoveWithTheirJobs) {
    EXPECT_EQ(state(), "raw");
    const Json lease = take("clean_up");
    EXPECT_EQ(state(), "cleaning");
    expect_ok(api().report(lease, failure(false)));
    EXPECT_EQ(state(), "raw");
    clean_it();
    EXPECT_EQ(state(), "clean");
}

TEST_F(SitesKinds, StayWhereTheStartHasPutThemUntilARetryHasEnded) {
    expect_ok(api().report(take("clean_up"), failure()));
    EXPECT_EQ(state(), "cleaning");
    const Json again = api().claim_one({{"types", List{"clean_up"}}, {"wait_ms", 10'000}});
    EXPECT_EQ(state(), "cleaning");
    expect_ok(api().succeed(again));
    EXPECT_EQ(state(), "clean");
}

TEST_F(SitesKinds, RefuseWhatTheirTableDoesNotHave) {
    expect_refused(act("publish"), 409, "invalid_transition");
    expect_refused(act("cleaned"), 403, "forbidden");
    EXPECT_EQ(state(), "raw");
}

TEST_F(SitesKinds, PassAGateOnlyWhenItsJobHasSucceeded) {
    clean_it();

    expect_refused(act("publish"), 409, "gate_closed");
    const Json audit = take("audit");
    expect_refused(act("publish"), 409, "gate_closed");
    expect_ok(api().succeed(audit));
    expect_ok(act("publish"));

    EXPECT_EQ(state(), "public");
}

TEST_F(SitesKinds, EnqueueTheJobsOfAnAction) {
    clean_it();
    expect_ok(api().succeed(take("audit")));

    const Json published = expect_ok(act("publish"));

    const List jobs = list(published, "jobs");
    ASSERT_EQ(jobs.size(), 1u);
    EXPECT_EQ(text(jobs[0], "type"), "announce");
    EXPECT_EQ(text(jobs[0], "entity_id"), "d");
    EXPECT_EQ(at(jobs[0], "payload"), (Fields{{"dataset_id", "d"}, {"title", "Rain"}}));
    EXPECT_EQ(api().state(text(jobs[0], "id")), "queued");
}

TEST_F(SitesKinds, SayWhetherAGateIsOpen) {
    clean_it();

    const Response closed = check({{"action", "publish"}});
    expect_refused(closed, 409, "gate_closed");
    EXPECT_EQ(text(parse(closed.body), "job_type"), "audit");
    EXPECT_TRUE(is_null(parse(closed.body), "latest_job"));

    const Json audit = take("audit");
    const Json running = parse(check({{"action", "publish"}}).body);
    EXPECT_EQ(text(running, "latest_job"), job_of(audit));
    EXPECT_EQ(text(running, "latest_state"), "running");
    EXPECT_NE(text(running, "detail").find("audit"), std::string::npos);

    expect_ok(api().succeed(audit));
    const Json open = expect_ok(check({{"action", "publish"}}));
    EXPECT_TRUE(flag(open, "open"));
    EXPECT_EQ(list(open, "gates").size(), 1u);
    EXPECT_TRUE(flag(expect_ok(check({{"job_type", "audit"}})), "open"));
    EXPECT_EQ(state(), "clean") << "a question changes nothing";
}

TEST_F(SitesKinds, SayWhyAGateCannotBeAsked) {
    expect_refused(check({{"action", "publish"}}), 409, "invalid_transition");
    expect_refused(check({{"action", "fly"}}), 422, "invalid", "/action");
    expect_refused(check({}), 422, "invalid", "/action");
    expect_refused(check({{"action", "publish"}, {"job_type", "audit"}}), 422, "invalid",
                   "/action");
    expect_refused(check({{"entity_id", "none"}, {"action", "publish"}}), 404, "not_found");
    expect_refused(check({{"app", "billing"}, {"action", "publish"}}), 404, "not_found");
    expect_refused(check({{"colour", "red"}, {"action", "publish"}}), 422, "invalid", "/colour");
}

TEST_F(SitesKinds, GatesCanBeAskedAboutWhateverJobsName) {
    const Fields about{{"entity_type", "build"}, {"entity_id", "b-1"}};
    Fields question = about;
    question["job_type"] = "audit";
    expect_refused(post("/api/v1/gates/check", question), 409, "gate_closed");

    Fields job = about;
    job["type"] = "audit";
    api().submit(job);
    expect_ok(api().succeed(api().claim_one()));

    EXPECT_TRUE(flag(expect_ok(post("/api/v1/gates/check", question)), "open"));
}

TEST_F(SitesKinds, TellThoseWhoWatchWhenAGateOpensOrCloses) {
    EventStream stream(engine().port(), "/api/v1/entities/dataset/d/stream");
    EXPECT_EQ(stream.next()->type, "state");
    const auto standing = stream.next();
    ASSERT_TRUE(standing);
    EXPECT_EQ(standing->type, "gate");
    EXPECT_EQ(text(parse(standing->data), "action"), "publish");
    EXPECT_EQ(text(parse(standing->data), "job_type"), "audit");
    EXPECT_FALSE(flag(parse(standing->data), "open"));

    expect_ok(api().succeed(take("audit")));

    const auto opened = stream.next();
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->type, "gate");
    EXPECT_TRUE(flag(parse(opened->data), "open"));
}

}  // namespace sites_kinds_test
}  // namespace sluice::e2e
