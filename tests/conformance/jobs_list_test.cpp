// Seed 003, 4.1: lists of jobs, the detail of one, and its replay.
#include <algorithm>
#include <set>

#include "conformance/jobs.hpp"

namespace sluice::e2e {
namespace jobs_list_test {

class JobsList : public JobsTest {
  protected:
    std::vector<std::string> mine(const std::string& query) {
        return jobs.ids_of("jobType=" + jobs.action + (query.empty() ? "" : "&" + query));
    }
};

using Ids = std::vector<std::string>;

TEST_F(JobsList, FiltersByStatusInEverySpelling) {
    const std::string running = jobs.create_id();
    jobs.claim();
    const std::string success = jobs.succeeded();
    const std::string failed = jobs.failed();
    const std::string cancelled = jobs.cancelled();
    const std::string timed_out = jobs.run_to_end({{"outcome", "timed_out"}});
    const std::string pending = jobs.create_id();

    for (const std::string name : {"state", "status"}) {
        EXPECT_EQ(mine(name + "=pending"), Ids{pending});
        EXPECT_EQ(mine(name + "=running"), Ids{running});
        EXPECT_EQ(mine(name + "=success"), Ids{success});
        EXPECT_EQ(mine(name + "=succeeded"), Ids{success});
        EXPECT_EQ(mine(name + "=cancelled"), Ids{cancelled});
        EXPECT_EQ(mine(name + "=canceled"), Ids{cancelled});
        EXPECT_EQ(mine(name + "=timed_out"), Ids{timed_out});
        EXPECT_EQ(mine(name + "=running,success"), (Ids{success, running}));
        EXPECT_EQ(mine(name + "=").size(), 6u) << "as the document writes it";
    }
    EXPECT_EQ(mine("status=failed"), Ids{failed});
    EXPECT_EQ(mine("state=failed"), (Ids{timed_out, failed})) << "there a timeout is a failure";
    EXPECT_EQ(mine("").size(), 6u);
}

TEST_F(JobsList, FiltersByTenant) {
    const std::string tenant = fresh_name("tenant");
    const std::string theirs = jobs.create_id({{"tenant", tenant}});
    const std::string ours = jobs.create_id();

    EXPECT_EQ(mine("tenant=" + tenant), Ids{theirs});
    EXPECT_EQ(mine(""), Ids{ours});
}

TEST_F(JobsList, FiltersByJobType) {
    const std::string other = fresh_name("action");
    const std::string first = jobs.create_id();
    const std::string second = jobs.create_id({{"action", other}});

    EXPECT_EQ(jobs.ids_of("jobType=" + jobs.action), Ids{first});
    EXPECT_EQ(jobs.ids_of("action=" + other), Ids{second});
}

TEST_F(JobsList, FiltersByTimeWindow) {
    const Json job = jobs.create();
    const Ids only{text(job, "id")};
    const std::string created = text(job, "createdAt");

    EXPECT_EQ(mine("from=" + created), only);
    EXPECT_EQ(mine("from=2020-01-01T00:00:00Z&to=2099-01-01T00:00:00Z"), only);
    EXPECT_TRUE(mine("to=" + created).empty()) << "the window ends before `to`";
    EXPECT_TRUE(mine("from=2099-01-01T00:00:00Z").empty());
}

TEST_F(JobsList, ComesInPagesNewestFirst) {
    Ids made;
    for (int i = 0; i < 5; ++i) made.insert(made.begin(), jobs.create_id());

    Ids found;
    std::string cursor;
    do {
        const Response response = jobs.get("?limit=2&action=" + jobs.action + cursor);
        const Json page = expect_ok(response);
        for (const Json& job : list(page, "jobs")) found.push_back(text(job, "id"));
        EXPECT_EQ(response.header("Link").empty(), is_null(page, "nextCursor"));
        cursor = is_null(page, "nextCursor") ? "" : "&cursor=" + text(page, "nextCursor");
    } while (!cursor.empty() && found.size() < 10);

    EXPECT_EQ(found, made);
}

TEST_F(JobsList, ItsLinkLeadsToTheNextPage) {
    const std::string first = jobs.create_id();
    jobs.create_id();
    const std::string link = jobs.get("?limit=1&action=" + jobs.action).header("Link");

    const std::string target = link.substr(1, link.find('>') - 1);

    const Json page = expect_ok(jobs.worker.http.get(target));
    ASSERT_EQ(list(page, "jobs").size(), 1u);
    EXPECT_EQ(text(list(page, "jobs")[0], "id"), first);
}

TEST_F(JobsList, RefusesWhatItDoesNotKnow) {
    for (const char* query :
         {"?state=queued", "?status=done", "?from=yesterday", "?to=1", "?limit=0", "?limit=201",
          "?cursor=x", "?state=failed&status=failed", "?action=a&jobType=a"}) {
        expect_refused(jobs.get(query), 400, "malformed");
    }
}

class JobsDetail : public JobsTest {};

TEST_F(JobsDetail, HasThePayloadDigest) {
    const Json job = jobs.create({{"input", Fields{{"a", 1}}}});

    EXPECT_EQ(text(jobs.job(text(job, "id")), "payloadDigest"),
              "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862")
        << "SHA-256 of {\"a\":1}";
}

TEST_F(JobsDetail, HasItsAttemptsWorkerLeaseHistoryAndMetrics) {
    const std::string id = jobs.create_id();
    expect_ok(jobs.worker.release(jobs.claim({{"worker_id", "first"}})));
    const Json lease = jobs.claim({{"worker_id", "second"}});

    const Json running = jobs.job(id);
    EXPECT_EQ(text(running, "worker"), "second");
    EXPECT_EQ(text(running, "leaseUntil"), text(lease, "lease_until"));
    EXPECT_TRUE(is_null(list(running, "leaseHistory").at(1), "releasedAt"));
    EXPECT_TRUE(is_null(list(running, "attempts").at(1), "outcome"));
    expect_ok(jobs.worker.succeed(lease));

    const Json job = jobs.job(id);
    const List& attempts = list(job, "attempts");
    ASSERT_EQ(attempts.size(), 2u);
    EXPECT_EQ(text(attempts[0], "workerId"), "first");
    EXPECT_EQ(text(attempts[0], "outcome"), "handed_back");
    EXPECT_EQ(text(attempts[1], "workerId"), "second");
    EXPECT_EQ(text(attempts[1], "outcome"), "succeeded");
    EXPECT_EQ(number(attempts[1], "attempt"), 1) << "what was handed back does not count";
    EXPECT_EQ(text(attempts[1], "startedAt"), text(job, "startedAt"));
    EXPECT_EQ(text(attempts[1], "endedAt"), text(job, "completedAt"));
    const List& leases = list(job, "leaseHistory");
    ASSERT_EQ(leases.size(), 2u);
    EXPECT_EQ(text(leases[1], "leaseId"), text(lease, "lease_id"));
    EXPECT_EQ(text(leases[1], "acquiredAt"), text(job, "startedAt"));
    EXPECT_EQ(text(leases[1], "releasedAt"), text(job, "completedAt"));
    EXPECT_GE(number(at(job, "metrics"), "queuedMs"), 0);
    EXPECT_GE(number(at(job, "metrics"), "runMs"), 0);
}

TEST_F(JobsDetail, OfACancelledJobKeepsTheLeaseOpenUntilItsWorkerStops) {
    const std::string id = jobs.create_id();
    const Json lease = jobs.claim();
    expect_ok(jobs.cancel(id));

    const Json stopping = jobs.job(id);
    expect_ok(jobs.worker.report(lease, {{"outcome", "canceled"}}));
    const Json stopped = jobs.job(id);

    EXPECT_EQ(text(list(stopping, "attempts")[0], "outcome"), "canceled");
    EXPECT_TRUE(is_null(list(stopping, "leaseHistory")[0], "releasedAt"));
    EXPECT_EQ(list(stopped, "attempts"), list(stopping, "attempts"));
    EXPECT_FALSE(text(list(stopped, "leaseHistory")[0], "releasedAt").empty());
}

TEST_F(JobsDetail, TellsOfRetriesThatTheJobAskedFor) {
    const std::string id = jobs.create_id({{"maxAttempts", 2}});
    expect_ok(jobs.worker.report(jobs.claim(), {{"outcome", "failed"}, {"error_code", "E"}}));

    const Json job = jobs.job(id);

    EXPECT_EQ(text(job, "state"), "pending");
    EXPECT_TRUE(is_null(job, "startedAt"));
    EXPECT_EQ(text(at(job, "error"), "code"), "E");
    EXPECT_EQ(text(list(job, "attempts")[0], "outcome"), "retried");
}

TEST_F(JobsDetail, OfAnotherTenantIsNotFound) {
    const std::string id = jobs.create_id({{"tenant", fresh_name("tenant")}});

    expect_refused(jobs.get("/" + id + "?tenant=other"), 404, "not_found");
    expect_refused(jobs.get("/65f000000000000000000000"), 404, "not_found");
    expect_refused(jobs.get("/nonsense"), 404, "not_found");
    EXPECT_EQ(text(expect_ok(jobs.get("/" + id + "?full=1")), "id"), id);
}

class JobsReplay : public JobsTest {};

TEST_F(JobsReplay, ClonesThePayloadAndSetsReplayOf) {
    const Json old = jobs.create({{"input", Fields{{"a", 1}}}, {"correlationId", "c"}});
    expect_ok(jobs.worker.fail(jobs.claim()));

    const Json replayed = expect_ok(jobs.replay(text(old, "id"), {{"reason", "again"}}), 202);

    EXPECT_EQ(text(replayed, "replayOf"), text(old, "id"));
    EXPECT_EQ(text(replayed, "status"), "pending");
    for (const char* same : {"action", "input", "payloadDigest", "tenant", "project",
                             "correlationId", "maxAttempts", "timeoutMs", "labels"}) {
        EXPECT_EQ(at(replayed, same), at(old, same)) << same;
    }
    EXPECT_EQ(job_of(jobs.claim()), text(replayed, "id"));
}

TEST_F(JobsReplay, OfAJobThatHasNotEndedIsAConflict) {
    const std::string id = jobs.create_id();

    expect_refused(jobs.replay(id), 409, "conflict");
    expect_refused(jobs.replay("65f000000000000000000000"), 404, "not_found");

    EXPECT_EQ(jobs.list_of("action=" + jobs.action).size(), 1u);
}

TEST_F(JobsReplay, WithTheSameKeyIsOneJob) {
    const std::string path = "/api/jobs/" + jobs.failed() + "/replay";
    const Headers key{{"Idempotency-Key", fresh_name("key")}};

    const Response first = jobs.worker.http.post(path, "{}", key);
    const Response again = jobs.worker.http.post(path, "{}", key);

    EXPECT_EQ(first.status, 202);
    EXPECT_EQ(again.body, first.body);
}

}  // namespace jobs_list_test
}  // namespace sluice::e2e
