// Submitting one job: every field, its defaults, and refusals.
#include "domain/values/sha256.hpp"
#include "e2e/api.hpp"

namespace sluice::e2e {
namespace submit_test {

ON_EACH_STORE(Submit);

TEST_P(Submit, AnswersWithTheQueuedJobAndWhereItIs) {
    const Response response = api.try_submit({{"type", "mail"}});

    const Json job = expect_ok(response, 202);
    const std::string id = text(job, "id");
    EXPECT_EQ(id.size(), 24u);
    EXPECT_EQ(response.header("Location"), "/api/v1/jobs/" + id);
    EXPECT_EQ(response.header("Content-Type"), "application/json");
    EXPECT_EQ(text(job, "state"), "queued");
    EXPECT_EQ(number(job, "attempt"), 0);
    EXPECT_EQ(number(job, "revision"), 1);
    EXPECT_EQ(api.job(id), job);
}

TEST_P(Submit, FillsInTheDefaults) {
    const Json job = expect_ok(api.http.post("/api/v1/jobs", R"({"type":"anything"})"), 202);

    EXPECT_EQ(text(job, "tenant"), "default");
    EXPECT_EQ(text(job, "queue"), "default");
    EXPECT_EQ(number(job, "priority"), 0);
    EXPECT_EQ(number(job, "max_attempts"), 3);
    EXPECT_EQ(number(job, "timeout_ms"), 1'800'000);
    EXPECT_EQ(at(job, "backoff"),
              (Fields{{"kind", "exponential"}, {"base_ms", 1000}, {"cap_ms", 300'000}}));
    EXPECT_EQ(text(job, "on_dependency_failure"), "cancel");
    EXPECT_EQ(text(job, "run_after"), text(job, "created_at"));
    for (const char* name :
         {"project", "entity_type", "entity_id", "site_id", "node_id", "payload", "result",
          "error_code", "error_message", "progress", "message", "locked_by", "locked_at",
          "lease_until", "replay_of", "source", "correlation_id", "started_at", "completed_at"}) {
        EXPECT_TRUE(is_null(job, name)) << name;
    }
    for (const char* name : {"exclusive_keys", "labels", "depends_on"}) {
        EXPECT_TRUE(list(job, name).empty()) << name;
    }
    expect_ok(api.cancel(text(job, "id")));  // it is in a queue that others see
}

TEST_P(Submit, KeepsEveryFieldThatItIsGiven) {
    const std::string first = api.submit_id();
    const Fields fields{{"type", "site_create"},
                        {"tenant", "default"},
                        {"project", "prj"},
                        {"priority", -7},
                        {"run_after", "2031-02-03T04:05:06.789Z"},
                        {"timeout_ms", 12345},
                        {"max_attempts", 9},
                        {"backoff", List{1000, 60'000}},
                        {"on_dependency_failure", "run"},
                        {"entity_type", "site"},
                        {"entity_id", "e-1"},
                        {"site_id", fresh_name("site")},
                        {"node_id", fresh_name("node")},
                        {"exclusive_keys", List{"a", "b"}},
                        {"labels", List{"gpu", "zone=1"}},
                        {"depends_on", List{Json(first)}},
                        {"source", "tests"},
                        {"correlation_id", "c-1"},
                        {"payload", Fields{{"n", 1}}}};

    const std::string id = api.submit_id(fields);

    const Json job = api.job(id);
    for (const auto& field : fields) {
        EXPECT_EQ(at(job, std::string(field.key())), field.value()) << field.key();
    }
    EXPECT_EQ(text(job, "queue"), api.queue());
}

TEST_P(Submit, SortsListsAndDropsRepeats) {
    const Json job =
        api.submit({{"exclusive_keys", List{"b", "a", "b"}}, {"labels", List{"z", "y", "z"}}});

    EXPECT_EQ(at(job, "exclusive_keys"), (List{"a", "b"}));
    EXPECT_EQ(at(job, "labels"), (List{"y", "z"}));
}

TEST_P(Submit, TakesLabelsAsAnObjectToo) {
    const Json job = api.submit({{"labels", Fields{{"zone", "eu"}, {"arch", "arm"}}}});

    EXPECT_EQ(at(job, "labels"), (List{"arch=arm", "zone=eu"}));
}

TEST_P(Submit, TakesNullForNotGiven) {
    const Json job = api.submit({{"priority", nullptr}, {"site_id", nullptr}, {"labels", nullptr}});

    EXPECT_EQ(number(job, "priority"), 0);
    EXPECT_TRUE(is_null(job, "site_id"));
}

TEST_P(Submit, RefusesABackoffThatContradictsItself) {
    const Fields inverted{{"kind", "exponential"}, {"base_ms", 300'000}, {"cap_ms", 1000}};
    const Response refused = api.try_submit({{"backoff", inverted}});
    expect_refused(refused, 422, "invalid", "/backoff/cap_ms");
    EXPECT_EQ(text(parse(refused.body), "detail"), "must be at least base_ms (300000)");
    expect_refused(api.try_submit({{"backoff", List{}}}), 422, "invalid", "/backoff");
    const Fields no_cap{{"kind", "exponential"}, {"base_ms", 600'000}};
    EXPECT_EQ(number(at(api.submit({{"backoff", no_cap}}), "backoff"), "cap_ms"), 600'000);
}

TEST_P(Submit, CountsADelayFromNow) {
    const Json job = api.submit({{"delay_ms", 3'600'000}});

    EXPECT_GT(text(job, "run_after"), text(job, "created_at"));
    EXPECT_TRUE(api.claim().empty());
}

TEST_P(Submit, NamesEveryUnknownField) {
    const Response one = api.try_submit({{"typ", "x"}});
    expect_refused(one, 422, "invalid", "/typ");
    EXPECT_NE(one.body.find("typ"), std::string::npos);

    const Response two = api.try_submit({{"maxAttempts", 1}, {"Priority", 2}});
    expect_refused(two, 422, "invalid");
    EXPECT_NE(text(parse(two.body), "detail").find("maxAttempts, Priority"), std::string::npos);
}

TEST_P(Submit, GivesIdsThatSortInTheOrderOfArrival) {
    std::string last;
    for (int i = 0; i < 20; ++i) {
        const std::string id = api.submit_id();
        EXPECT_LT(last, id);
        last = id;
    }
}

TEST_P(Submit, AcceptsEachFieldAtItsLimitAndRefusesOneOver) {
    const std::string longest(200, 'n');
    const std::string too_long(201, 'n');
    for (const char* name : {"type", "project", "entity_type", "entity_id", "site_id", "node_id",
                             "source", "correlation_id", "queue"}) {
        EXPECT_EQ(api.try_submit({{name, longest}}).status, 202) << name;
        expect_refused(api.try_submit({{name, too_long}}), 413, "too_large",
                       "/" + std::string(name));
    }
    EXPECT_EQ(api.try_submit({{"priority", 1'000'000}}).status, 202);
    expect_refused(api.try_submit({{"priority", 1'000'001}}), 422, "invalid", "/priority");
    EXPECT_EQ(api.try_submit({{"max_attempts", 1000}}).status, 202);
    expect_refused(api.try_submit({{"max_attempts", 1001}}), 422, "invalid", "/max_attempts");
    EXPECT_EQ(api.try_submit({{"timeout_ms", 2'592'000'000}}).status, 202);
    expect_refused(api.try_submit({{"timeout_ms", 2'592'000'001}}), 422, "invalid", "/timeout_ms");
}

TEST_P(Submit, LimitsItsLists) {
    const auto names = [](int count) {
        List list;
        for (int i = 0; i < count; ++i) list.emplace_back("k" + std::to_string(i));
        return list;
    };
    for (const char* name : {"exclusive_keys", "labels"}) {
        EXPECT_EQ(api.try_submit({{name, names(32)}}).status, 202) << name;
        expect_refused(api.try_submit({{name, names(33)}}), 413, "too_large");
    }
    const List delays(33, Json(1));
    expect_refused(api.try_submit({{"backoff", delays}}), 413, "too_large", "/backoff");
}

TEST_P(Submit, SurvivesAnyTextInAName) {
    for (const char* name : {"'; DROP TABLE job; --", "%_\\", "<img src=x onerror=1>", "naïve 💡",
                             "\"quoted\"", "a/b?c#d"}) {
        const Json job =
            api.submit({{"type", name}, {"exclusive_keys", List{Json(fresh_name(name))}}});
        EXPECT_EQ(text(api.job(text(job, "id")), "type"), name);
        EXPECT_EQ(api.claim({{"types", List{Json(name)}}}).size(), 1u) << name;
    }
}

TEST_P(Submit, RefusesControlCharactersInNames) {
    for (const char* name : {"a\nb", "a\x01", "\x7f", "a\r\nSet-Cookie: x"}) {
        expect_refused(api.try_submit({{"type", name}}), 422, "invalid", "/type");
    }
}

TEST_P(Submit, RefusesADelayTogetherWithATime) {
    expect_refused(api.try_submit({{"delay_ms", 1}, {"run_after", "2030-01-01T00:00:00Z"}}), 422,
                   "invalid", "/delay_ms");
}

TEST_P(Submit, RunsAtOnceWhatWasDueLongAgo) {
    api.submit({{"run_after", "2001-01-01T00:00:00Z"}});

    EXPECT_EQ(api.claim().size(), 1u);
}

}  // namespace submit_test
}  // namespace sluice::e2e
