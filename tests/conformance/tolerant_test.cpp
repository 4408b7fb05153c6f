// How strictly each contract reads. Its clients were written for servers that ignore unknown
// members and take "30" for 30; the native API, and with it sites, refuses both.
#include "conformance/apps.hpp"
#include "conformance/deploy.hpp"
#include "conformance/jobs.hpp"

namespace sluice::e2e {
namespace tolerant_test {

class AppsReading : public AppsTest {};

TEST_F(AppsReading, IgnoresMembersAndParametersThatItDoesNotKnow) {
    const Json changeset = author.create(
        path("/changesets?verbose=1"),
        {{"title", "t"}, {"client", Fields{{"name", "cli"}, {"version", List{1, 2}}}}});

    EXPECT_FALSE(changeset.as_object().contains("client"));
    EXPECT_EQ(ids_of(author.list_of(path("/changesets?sort=asc&sort=desc&page=1"))),
              std::vector{text(changeset, "id")});
}

TEST_F(AppsReading, TakesTheUsualOtherFormsOfAValue) {
    const Response changed = admin.patch(path(), {{"name", 42}, {"approvals_required", "2"}});

    EXPECT_EQ(changed.status, 200) << changed.body;
    const Json shown = author.read(path());
    EXPECT_EQ(text(shown, "name"), "42");
    EXPECT_EQ(number(shown, "approvals_required"), 2);
}

TEST_F(AppsReading, RefusesWhatNoOtherFormFits) {
    const std::string message =
        expect_error(admin.patch(path(), {{"approvals_required", "abc"}}), 400, "validation_error");

    EXPECT_NE(message.find("approvals_required"), std::string::npos) << message;
    expect_error(author.get(path("/changesets?page=abc")), 400, "validation_error");
    EXPECT_FALSE(author.read(path()).as_object().contains("approvals_required"));
}

class JobsReading : public JobsTest {};

TEST_F(JobsReading, IgnoresMembersAndParametersThatItDoesNotKnow) {
    const std::string id = jobs.create_id({{"inputs", 1}, {"client", Fields{{"tags", List{"a"}}}}});

    EXPECT_EQ(jobs.ids_of("sort=up&sort=down&action=" + jobs.action), std::vector{id});
    const Response canceled =
        jobs.worker.http.post("/api/jobs/" + id + "/cancel?force=1", R"({"why":1,"reason":"r"})");
    EXPECT_EQ(text(expect_ok(canceled), "reason"), "r");
}

TEST_F(JobsReading, TakesTheUsualOtherFormsOfAValue) {
    const Json job = jobs.create(
        {{"priority", "7"}, {"maxAttempts", "3.0"}, {"correlationId", 12}, {"input", "30"}});

    EXPECT_EQ(number(job, "priority"), 7);
    EXPECT_EQ(number(job, "maxAttempts"), 3);
    EXPECT_EQ(text(job, "correlationId"), "12");
    EXPECT_EQ(at(job, "input"), Json("30")) << "the input stays as it came";
}

TEST_F(JobsReading, RefusesWhatNoOtherFormFits) {
    expect_refused(jobs.try_create({{"priority", "abc"}}), 422, "invalid", "/priority");
    expect_refused(jobs.try_create({{"maxAttempts", 1.5}}), 422, "invalid", "/maxAttempts");
    EXPECT_TRUE(jobs.list_of("action=" + jobs.action).empty());
}

class DeployReading : public DeployTest {};

TEST_F(DeployReading, IgnoresMembersAndParametersThatItDoesNotKnow) {
    const std::string id = api.create({}, {{"traceId", "t-1"}, {"retry", Fields{{"max", 3}}}}).id();
    const DeployAnswer claimed = api.claim("r", {{"hostname", "h"}, {"capabilities", List{}}});

    EXPECT_EQ(claimed.id(), id);
    expect_code(api.heartbeat(id, "r", {{"cpu", 0.5}}), 200);
    expect_code(api.report(id, "r", "SUCCEEDED", {{"durationMs", 12}}), 200);
    expect_code(api.get("/deploy/jobs?limit=1&sort=up"), 200);
    expect_code(api.get("/admin/runners/list?x=1"), 200);
}

TEST_F(DeployReading, TakesTheUsualOtherFormsOfAValue) {
    const std::string id = api.create({}, {{"priority", "5"}}).id();

    const DeployAnswer claimed = api.claim("7", {{"leaseSeconds", "30"}});

    EXPECT_EQ(claimed.id(), id);
    expect_code(deploy_answer(api.http.post("/deploy/jobs/" + id + "/heartbeat",
                                            R"({"runnerId":7,"extendSeconds":30.0,"phase":1})")),
                200);
    EXPECT_EQ(text(at(api.job(id).data, "payload"), "phase"), "1");
}

TEST_F(DeployReading, RefusesWhatNoOtherFormFits) {
    const DeployAnswer refused = api.claim("r", {{"leaseSeconds", "abc"}});

    expect_code(refused, 500);
    EXPECT_NE(refused.message.find("leaseSeconds"), std::string::npos) << refused.body;
    expect_code(api.get("/deploy/jobs?limit=abc"), 500);
}

TEST(SitesReading, IsStrict) {
    Api api(shared_engine("sqlite").port(), fresh_name("queue"));

    expect_refused(api.try_submit({{"sites_id", "s"}}), 422, "invalid", "/sites_id");
    expect_refused(api.try_submit({{"priority", "7"}}), 422, "invalid", "/priority");
    expect_refused(api.try_submit({{"queue", 7}}), 422, "invalid", "/queue");
    expect_refused(api.http.get("/api/v1/jobs?sort=up"), 400, "malformed");
}

}  // namespace tolerant_test
}  // namespace sluice::e2e
