// The history of a job, and what `sluice audit verify` says about it.
#include "e2e/api.hpp"
#include "e2e/change_store.hpp"

namespace sluice::e2e {
namespace history_test {

ON_EACH_STORE(History);

TEST_P(History, EachEventSaysWhoDidWhatAndWhen) {
    const std::string id = api.submit_id({{"max_attempts", 1}});
    const Json lease = api.claim_one({{"worker_id", "w1"}});
    expect_ok(api.report(
        lease,
        {{"outcome", "failed"}, {"error_code", "E"}, {"error_message", "line\n\"quoted\""}}));

    const List events = api.events(id);

    ASSERT_EQ(events.size(), 3u);
    const char* const froms[] = {"", "queued", "running"};
    const char* const tos[] = {"queued", "running", "failed"};
    const char* const actors[] = {"anonymous", "worker:w1", "worker:w1"};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(number(events[i], "seq"), static_cast<std::int64_t>(i) + 1);
        EXPECT_EQ(text(events[i], "from"), froms[i]);
        EXPECT_EQ(text(events[i], "to"), tos[i]);
        EXPECT_EQ(text(events[i], "actor"), actors[i]);
        EXPECT_EQ(text(events[i], "hash").size(), 64u);
    }
    EXPECT_EQ(number(events[2], "attempt"), 1);
    EXPECT_EQ(text(events[2], "lease_id"), text(lease, "lease_id"));
    EXPECT_EQ(text(at(events[2], "detail"), "error_message"), "line\n\"quoted\"");
    EXPECT_EQ(number(api.job(id), "revision"), 3);
    EXPECT_EQ(text(events[2], "at"), text(api.job(id), "completed_at"));
}

TEST_P(History, EqualJobsHaveDifferentHashes) {
    const List a = api.events(api.submit_id());
    const List b = api.events(api.submit_id());

    EXPECT_NE(text(a[0], "hash"), text(b[0], "hash"));
}

TEST_P(History, OfARetryIsReadable) {
    const std::string id = api.submit_id({{"backoff", List{3'600'000}}});
    const Json reported =
        expect_ok(api.report(api.claim_one(), {{"outcome", "failed"}, {"error_code", "E"}}));

    const Response response = api.http.get("/api/v1/jobs/" + id + "/events");

    const Json answer = parse(response.body);
    const Json detail = at(list(answer, "events")[2], "detail");
    EXPECT_EQ(text(detail, "error_code"), "E");
    EXPECT_EQ(text(detail, "run_after"), text(reported, "run_after"));
}

TEST_P(History, OfALifeWithEverythingInItIsAChainOfSteps) {
    const std::string id = api.submit_id({{"max_attempts", 3}, {"backoff", "none"}});
    expect_ok(api.release(api.claim_one()));
    api.claim_one({{"lease_ms", 100}});
    Json lease = api.claim_one({{"wait_ms", 5000}});
    expect_ok(api.log(lease, {Fields{{"message", "m"}}}));
    expect_ok(api.cancel(id));
    expect_ok(api.report(lease, {{"outcome", "canceled"}}));

    const List events = api.events(id);
    std::string state;
    for (const Json& event : events) {
        if (text(event, "type") == "lease_closed") {
            EXPECT_TRUE(is_null(event, "to"));
            continue;
        }
        EXPECT_EQ(text(event, "from"), state);
        state = text(event, "to");
    }
    EXPECT_EQ(state, "canceled");
    EXPECT_EQ(api.steps(id),
              (std::vector<std::string>{"submitted", "claimed", "handed_back", "claimed",
                                        "lease_expired", "claimed", "canceled", "lease_closed"}));
}

// A stopped engine's store with some history in it.
class Audit : public testing::Test {
  protected:
    Audit() {
        Engine engine(store());
        Api api(engine.port(), "q");
        for (int i = 0; i < 5; ++i) {
            const std::string id = api.submit_id({{"payload", i}, {"backoff", "none"}});
            Json lease = api.claim_one();
            expect_ok(api.log(lease, {Fields{{"message", "m"}}}));
            expect_ok(api.fail(lease));
            lease = api.claim_one();
            expect_ok(api.succeed(lease));
            if (i == 2) marked = id;
        }
        api.submit();
        api.claim_one();
        api.submit();
        expect_ok(api.http.post("/api/v1/entities", R"({"kind":"app","id":"shop"})"), 201);
        expect_ok(api.http.post("/api/v1/entities/app/shop", R"({"attributes":{"name":"Shop"}})"));
        EXPECT_EQ(engine.stop(), 0);
    }

    std::string store() const { return "sqlite:" + path(); }
    std::string path() const { return (folder.path() / "db").string(); }
    static Ended verify(const std::string& store) {
        return run_sluice({"audit", "verify", "--store", store});
    }

    void change(const std::string& sql) const { change_store(store(), sql); }

    // The marked job's id as the store has it: the third of all.
    static constexpr const char* marked_row = "(SELECT id FROM job ORDER BY id LIMIT 1 OFFSET 2)";

    void expect_broken_after(const std::string& sql, const std::string& event) {
        change(sql);
        const Ended verified = verify(store());
        EXPECT_EQ(verified.code, 6) << sql << verified.output;
        EXPECT_NE(verified.errors.find(marked), std::string::npos) << verified.errors;
        EXPECT_NE(verified.errors.find("event " + event), std::string::npos) << verified.errors;
    }

    void expect_broken_entity_after(const std::string& sql) {
        change(sql);
        const Ended verified = verify(store());
        EXPECT_EQ(verified.code, 6) << sql << verified.output;
        EXPECT_NE(verified.errors.find("app shop of tenant default"), std::string::npos)
            << verified.errors;
    }

    TempFolder folder;
    std::string marked;
};

TEST_F(Audit, PassesWhatNobodyTouched) {
    const Ended verified = verify(store());

    EXPECT_EQ(verified.code, 0) << verified.errors;
    EXPECT_EQ(verified.output, "7 jobs, 28 events, 1 entities with 2 events: every chain holds\n");
}

TEST_F(Audit, NoticesAChangedActor) {
    expect_broken_after(
        std::string("UPDATE event SET actor='eve' WHERE seq=3 AND job_id=") + marked_row, "3");
}

TEST_F(Audit, NoticesAChangedTime) {
    expect_broken_after(
        std::string("UPDATE event SET at=at+1 WHERE seq=2 AND job_id=") + marked_row, "2");
}

TEST_F(Audit, NoticesAChangedDetail) {
    expect_broken_after(
        std::string("UPDATE event SET detail='{}' WHERE seq=3 AND job_id=") + marked_row, "3");
}

TEST_F(Audit, NoticesAMissingEvent) {
    expect_broken_after(std::string("DELETE FROM event WHERE seq=2 AND job_id=") + marked_row, "2");
}

TEST_F(Audit, NoticesAMissingLastEvent) {
    expect_broken_after(std::string("DELETE FROM event WHERE seq=5 AND job_id=") + marked_row, "5");
}

TEST_F(Audit, NoticesSwappedEvents) {
    expect_broken_after(std::string("UPDATE event SET seq=CASE seq WHEN 3 THEN -4 ELSE -3 END "
                                    "WHERE seq IN (3,4) AND job_id=") +
                            marked_row + "; UPDATE event SET seq=-seq WHERE seq<0",
                        "3");
}

TEST_F(Audit, NoticesAChangedPayload) {
    expect_broken_after(std::string("UPDATE job SET payload='666' WHERE id=") + marked_row, "0");
}

TEST_F(Audit, NoticesAChangedFieldOfTheJob) {
    for (const char* field :
         {"type='x'", "priority=9", "tenant='x'", "max_attempts=9", "site_id='x'", "timeout=1"}) {
        SCOPED_TRACE(field);
        change(std::string("CREATE TABLE IF NOT EXISTS saved AS SELECT * FROM job WHERE id=") +
               marked_row + "; UPDATE job SET queue=queue");
        expect_broken_after(std::string("UPDATE job SET ") + field + " WHERE id=" + marked_row,
                            "1");
        change(std::string("DELETE FROM job WHERE id=") + marked_row +
               "; INSERT INTO job SELECT * FROM saved");
        EXPECT_EQ(verify(store()).code, 0);
    }
}

TEST_F(Audit, NoticesAChangedEnd) {
    expect_broken_after(std::string("UPDATE done SET state=3 WHERE id=") + marked_row, "5");
}

TEST_F(Audit, NoticesAChangedResult) {
    expect_broken_after(std::string("UPDATE done SET result='1' WHERE id=") + marked_row, "5");
}

TEST_F(Audit, NoticesALogLineThatWasTakenAway) {
    expect_broken_after(std::string("DELETE FROM log WHERE job_id=") + marked_row, "");
}

TEST_F(Audit, NoticesAChangedLogLine) {
    expect_broken_after(std::string("UPDATE log SET message='other' WHERE job_id=") + marked_row,
                        "");
}

TEST_F(Audit, NoticesAChangedLogLineWhoseDigestWasTakenFromAnotherJob) {
    expect_broken_after(
        std::string("UPDATE log SET at=at+1 WHERE job_id=") + marked_row +
            "; UPDATE done SET log_hash=(SELECT log_hash FROM done d WHERE d.id<>done.id LIMIT 1) "
            "WHERE id=" +
            marked_row,
        "");
}

TEST_F(Audit, NoticesAChangedEntity) {
    expect_broken_entity_after("UPDATE entity SET attributes='{\"name\":\"Mine\"}'");
}

TEST_F(Audit, NoticesAMissingEventOfAnEntity) {
    expect_broken_entity_after("DELETE FROM entity_event WHERE seq=2");
}

TEST_F(Audit, MayRunWhileTheEngineServes) {
    Engine engine(store());
    Api api(engine.port(), "q");
    api.submit_batch(std::vector<Fields>(50));

    const Ended verified = verify(store());

    EXPECT_EQ(verified.code, 0) << verified.errors;
    EXPECT_EQ(verified.output.substr(0, 8), "57 jobs,");
}

}  // namespace history_test
}  // namespace sluice::e2e
