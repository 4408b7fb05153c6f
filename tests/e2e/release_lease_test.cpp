// A job is taken away from a worker that is stuck.
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace release_lease_test {

class ReleaseLease : public EachStore {
  protected:
    Response release_lease(const std::string& id, const Fields& fields = {{"reason", "it hangs"}}) {
        return api.http.post("/api/v1/jobs/" + id + "/release-lease", serialize(fields));
    }
};
INSTANTIATE_TEST_SUITE_P(Store, ReleaseLease, testing::Values("memory", "sqlite"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(ReleaseLease, QueuesTheJobAndFencesItsWorker) {
    const std::string id = api.submit_id({{"max_attempts", 2}});
    const Json stuck = api.claim_one();
    expect_ok(api.heartbeat(stuck));

    const Json job = expect_ok(release_lease(id));

    EXPECT_EQ(text(job, "state"), "queued");
    EXPECT_EQ(number(job, "attempt"), 1);
    EXPECT_EQ(text(job, "error_code"), "LEASE_RELEASED");
    EXPECT_EQ(text(job, "error_message"), "it hangs");
    expect_refused(api.heartbeat(stuck), 409, "lease_lost");
    const Json current = api.claim_one({{"worker_id", "second"}});
    EXPECT_EQ(number(current, "attempt"), 2);
    expect_refused(api.succeed(stuck), 409, "lease_lost");
    expect_ok(api.succeed(current));
    EXPECT_EQ(api.steps(id), (std::vector<std::string>{"submitted", "claimed", "retried", "claimed",
                                                       "succeeded"}));
    const Json event = api.events(id)[2];
    EXPECT_EQ(text(event, "actor"), "anonymous");
    EXPECT_EQ(text(at(event, "detail"), "error_message"), "it hangs");
}

TEST_P(ReleaseLease, OfTheLastAttemptFailsTheJob) {
    const std::string id = api.submit_id({{"max_attempts", 1}});
    const Json stuck = api.claim_one();

    EXPECT_EQ(text(expect_ok(release_lease(id)), "state"), "failed");

    EXPECT_EQ(text(api.job(id), "error_code"), "LEASE_RELEASED");
    expect_refused(api.succeed(stuck), 409, "lease_lost");
}

TEST_P(ReleaseLease, OfACanceledJobFreesItsKeys) {
    const std::string site = fresh_name("site");
    const std::string id = api.submit_id({{"site_id", site}});
    const Json stuck = api.claim_one();
    const std::string next = api.submit_id({{"site_id", site}});
    expect_ok(api.cancel(id));
    EXPECT_TRUE(api.claim().empty());

    EXPECT_EQ(text(expect_ok(release_lease(id)), "state"), "canceled");

    EXPECT_EQ(job_of(api.claim_one()), next);
    EXPECT_EQ(api.steps(id).back(), "lease_closed");
    expect_refused(api.heartbeat(stuck), 409, "lease_lost");
}

TEST_P(ReleaseLease, ADryRunSaysWhatWouldHappenAndChangesNothing) {
    const Fields dry{{"reason", "it hangs"}, {"dry_run", true}};
    const std::string id = api.submit_id({{"max_attempts", 3}});
    const Json lease = api.claim_one();

    const Json again = expect_ok(release_lease(id, dry));

    EXPECT_TRUE(flag(again, "dry_run"));
    EXPECT_TRUE(flag(at(again, "effect"), "attempt_counts"));
    EXPECT_EQ(number(at(again, "effect"), "attempts_left"), 2);
    EXPECT_EQ(text(at(again, "effect"), "then"), "queued");
    EXPECT_EQ(text(again, "state"), "queued");
    EXPECT_EQ(api.state(id), "running");
    expect_ok(api.heartbeat(lease));
    const std::string last = api.submit_id({{"max_attempts", 1}});
    expect_refused(release_lease(last, dry), 409, "conflict");
    api.claim_one();
    const Json end = expect_ok(release_lease(last, dry));
    EXPECT_EQ(number(at(end, "effect"), "attempts_left"), 0);
    EXPECT_EQ(text(at(end, "effect"), "then"), "failed");
    EXPECT_EQ(api.state(last), "running");
}

TEST_P(ReleaseLease, KeepsTheTicketBesideTheReason) {
    const std::string id = api.submit_id();
    api.claim_one();

    expect_ok(release_lease(id, {{"reason", "it hangs"}, {"ticket", "OPS-7"}}));

    const Json detail = at(api.events(id).back(), "detail");
    EXPECT_EQ(text(detail, "ticket"), "OPS-7");
    EXPECT_EQ(text(detail, "error_message"), "it hangs");
}

TEST_P(ReleaseLease, RefusesWhatItCannotDo) {
    const std::string id = api.submit_id();
    expect_refused(release_lease(id), 409, "conflict");
    expect_refused(release_lease(id, {}), 422, "invalid", "/reason");
    for (const std::string& reason :
         {std::string("  "), std::string("a\nb"), std::string(257, 'r')}) {
        expect_refused(release_lease(id, {{"reason", reason}}), 422, "invalid", "/reason");
    }
    expect_refused(release_lease(id, {{"reason", "r"}, {"ticket", std::string(129, 't')}}), 422,
                   "invalid", "/ticket");
    expect_refused(release_lease(id, {{"reason", "x"}, {"force", true}}), 422, "invalid", "/force");
    expect_refused(release_lease("65f000000000000000000000"), 404, "not_found");
    expect_refused(
        api.http.post("/api/v1/jobs/" + id + "/release-lease?tenant=other", R"({"reason":"x"})"),
        404, "not_found");
    EXPECT_EQ(api.events(id).size(), 1u);
}

}  // namespace release_lease_test
}  // namespace sluice::e2e
