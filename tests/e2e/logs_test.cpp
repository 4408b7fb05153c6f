// Log lines: in order, without gaps, each once, and readable for good.
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace logs_test {

ON_EACH_STORE(Logs);

Json line(const std::string& message) {
    return Fields{{"message", message}};
}

std::vector<std::string> messages(const List& logs) {
    std::vector<std::string> all;
    for (const Json& entry : logs) all.push_back(text(entry, "message"));
    return all;
}

void expect_no_gaps(const List& logs) {
    for (std::size_t i = 0; i < logs.size(); ++i) {
        EXPECT_EQ(number(logs[i], "seq"), static_cast<std::int64_t>(i) + 1);
    }
}

TEST_P(Logs, AreKeptInOrderWithAllTheirParts) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();

    const Json answer =
        expect_ok(api.log(lease, {Fields{{"message", "one"}},
                                  Fields{{"message", "two\nlines \x1b[31m"}, {"level", "warn"}},
                                  Fields{{"message", ""},
                                         {"level", "error"},
                                         {"data", Fields{{"k", List{1, 2}}}},
                                         {"timestamp", "2026-01-02T03:04:05.678Z"}}}));

    EXPECT_EQ(number(answer, "last_seq"), 3);
    EXPECT_EQ(number(answer, "stored"), 3);
    const List logs = api.logs(id);
    ASSERT_EQ(logs.size(), 3u);
    expect_no_gaps(logs);
    EXPECT_EQ(messages(logs), (std::vector<std::string>{"one", "two\nlines \x1b[31m", ""}));
    EXPECT_EQ(text(logs[0], "level"), "info");
    EXPECT_TRUE(is_null(logs[0], "data"));
    EXPECT_EQ(text(logs[1], "level"), "warn");
    EXPECT_EQ(text(logs[2], "level"), "error");
    EXPECT_EQ(at(logs[2], "data"), (Fields{{"k", List{1, 2}}}));
    EXPECT_EQ(text(logs[2], "timestamp"), "2026-01-02T03:04:05.678Z");
    EXPECT_EQ(number(logs[2], "attempt"), 1);
}

TEST_P(Logs, AreNumberedOnOverAllAttempts) {
    const std::string id = api.submit_id({{"backoff", "none"}});
    for (int attempt = 1; attempt <= 3; ++attempt) {
        const Json lease = api.claim_one();
        expect_ok(api.log(lease, {line("a"), line("b")}));
        expect_ok(api.fail(lease));
    }

    const List logs = api.logs(id);
    ASSERT_EQ(logs.size(), 6u);
    expect_no_gaps(logs);
    EXPECT_EQ(number(logs[5], "attempt"), 3);
}

TEST_P(Logs, LinesWithNumbersAreStoredOnce) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    const auto numbered = [](int from, int to) {
        List entries;
        for (int i = from; i <= to; ++i) {
            entries.push_back(Fields{{"message", std::to_string(i)}, {"line", i}});
        }
        return entries;
    };

    expect_ok(api.log(lease, numbered(1, 3)));
    const Json repeated = expect_ok(api.log(lease, numbered(1, 3)));
    const Json overlapping = expect_ok(api.log(lease, numbered(2, 5)));

    EXPECT_EQ(number(repeated, "stored"), 0);
    EXPECT_EQ(number(repeated, "last_seq"), 3);
    EXPECT_EQ(number(overlapping, "stored"), 2);
    const List logs = api.logs(id);
    EXPECT_EQ(messages(logs), (std::vector<std::string>{"1", "2", "3", "4", "5"}));
    expect_no_gaps(logs);
}

TEST_P(Logs, LineNumbersStartAnewWithEachLease) {
    const std::string id = api.submit_id({{"backoff", "none"}});
    for (int attempt = 1; attempt <= 2; ++attempt) {
        const Json lease = api.claim_one();
        expect_ok(api.log(lease, {Fields{{"message", "first"}, {"line", 1}}}));
        expect_ok(api.fail(lease));
    }

    EXPECT_EQ(api.logs(id).size(), 2u);
}

TEST_P(Logs, AnIdenticalBatchWithTimesIsStoredOnce) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    const List batch{Fields{{"message", "x"}, {"timestamp", "2026-01-01T00:00:00Z"}},
                     Fields{{"message", "x"}, {"timestamp", "2026-01-01T00:00:00Z"}}};

    EXPECT_EQ(number(expect_ok(api.log(lease, batch)), "stored"), 2);
    EXPECT_EQ(number(expect_ok(api.log(lease, batch)), "stored"), 0);

    EXPECT_EQ(api.logs(id).size(), 2u);
}

TEST_P(Logs, LinesWithoutNumberAndTimeAreAllKept) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    expect_ok(api.log(lease, {line("same")}));
    expect_ok(api.log(lease, {line("same")}));

    EXPECT_EQ(api.logs(id).size(), 2u);
}

TEST_P(Logs, AreReadableAfterTheEnd) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    expect_ok(api.log(lease, {line("kept")}));
    expect_ok(api.succeed(lease));

    EXPECT_EQ(messages(api.logs(id)), (std::vector<std::string>{"kept"}));
    expect_refused(api.log(lease, {line("late")}), 409, "lease_lost");
    EXPECT_EQ(api.logs(id).size(), 1u);
}

TEST_P(Logs, AWorkerThatIsToStopMayStillSayWhy) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    expect_ok(api.cancel(id));

    expect_ok(api.log(lease, {line("cleaning up")}));

    EXPECT_EQ(api.logs(id).size(), 1u);
}

TEST_P(Logs, ArePagedBySequenceNumber) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    List entries;
    for (int i = 1; i <= 25; ++i) entries.push_back(line(std::to_string(i)));
    expect_ok(api.log(lease, entries));

    std::vector<std::string> read;
    std::int64_t after = 0;
    for (int page = 0; page < 10; ++page) {
        const Json answer =
            api.get("/api/v1/jobs/" + id + "/logs?limit=10&after=" + std::to_string(after));
        for (const Json& entry : list(answer, "logs")) read.push_back(text(entry, "message"));
        if (number(answer, "next_after") == after) break;
        after = number(answer, "next_after");
        if (page == 0) expect_ok(api.log(lease, {line("26")}));  // it grows meanwhile
    }

    ASSERT_EQ(read.size(), 26u);
    for (int i = 1; i <= 26; ++i)
        EXPECT_EQ(read[static_cast<std::size_t>(i) - 1], std::to_string(i));
}

TEST_P(Logs, RefuseBadPages) {
    const std::string path = "/api/v1/jobs/" + api.submit_id();
    for (const char* query : {"?limit=0", "?limit=1001", "?limit=x", "?after=-1", "?after=",
                              "?after=99999999999999999999", "?offset=1", "?limit=1&limit=2"}) {
        expect_refused(api.http.get(path + "/logs" + query), 400, "malformed");
        expect_refused(api.http.get(path + "/events" + query), 400, "malformed");
    }
    EXPECT_TRUE(list(api.get(path + "/logs?after=9223372036854775807"), "logs").empty());
}

TEST_P(Logs, RefuseBadEntries) {
    api.submit();
    const Json lease = api.claim_one();
    const auto post = [&](const std::string& body) {
        return api.http.post("/api/v1/leases/" + text(lease, "lease_id") + "/logs", body);
    };
    expect_refused(post("{}"), 422, "invalid", "/entries");
    expect_refused(post(R"({"entries":[]})"), 422, "invalid", "/entries");
    expect_refused(post(R"({"entries":[{}]})"), 422, "invalid", "/entries/0/message");
    expect_refused(post(R"({"entries":[{"message":"a"},{"message":1}]})"), 422, "invalid",
                   "/entries/1/message");
    expect_refused(post(R"({"entries":[{"message":"a","level":"debug"}]})"), 422, "invalid",
                   "/entries/0/level");
    expect_refused(post(R"({"entries":[{"message":"a","line":0}]})"), 422, "invalid",
                   "/entries/0/line");
    expect_refused(post(R"({"entries":[{"message":"a","timestamp":"now"}]})"), 422, "invalid",
                   "/entries/0/timestamp");
    expect_refused(post(R"({"lines":[]})"), 422, "invalid", "/lines");
    const std::string long_line(64 * 1024 + 1, 'l');
    expect_refused(post(R"({"entries":[{"message":")" + long_line + "\"}]}"), 413, "too_large",
                   "/entries/0/message");
    EXPECT_TRUE(api.logs(job_of(lease)).empty());
}

TEST_P(Logs, TakeAThousandLinesAtOnceAndNotOneMore) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();

    EXPECT_EQ(number(expect_ok(api.log(lease, List(1000, line("l")))), "stored"), 1000);
    expect_refused(api.log(lease, List(1001, line("l"))), 413, "too_large");

    expect_no_gaps(api.logs(id));
}

}  // namespace logs_test
}  // namespace sluice::e2e
