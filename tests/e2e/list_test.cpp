// Lists of jobs: every filter, and pages by cursor.
#include <algorithm>
#include <set>

#include "e2e/api.hpp"

namespace sluice::e2e {
namespace list_test {

ON_EACH_STORE(ListJobs);

using Ids = std::vector<std::string>;

Ids ids_in(const Json& page) {
    Ids ids;
    for (const Json& job : list(page, "jobs")) ids.push_back(text(job, "id"));
    return ids;
}

Ids listed(Api& api, const std::string& query) {
    return ids_in(api.get("/api/v1/jobs?queue=" + api.queue() + "&" + query));
}

TEST_P(ListJobs, ShowsTheNewestFirstInFull) {
    const Json a = api.submit({{"payload", 1}});
    const Json b = api.submit({{"payload", 2}});

    const Json page = api.get("/api/v1/jobs?queue=" + api.queue());

    EXPECT_EQ(at(page, "jobs"), (List{b, a}));
    EXPECT_TRUE(is_null(page, "next_cursor"));
}

TEST_P(ListJobs, FiltersByEachField) {
    const std::string mark = fresh_name("mark");
    for (const char* field :
         {"type", "project", "entity_type", "entity_id", "site_id", "node_id", "correlation_id"}) {
        const std::string value = std::string(field) + "-" + mark;
        const std::string wanted = api.submit_id({{field, value}});
        api.submit({{field, value + "x"}});

        EXPECT_EQ(listed(api, std::string(field) + "=" + value), (Ids{wanted})) << field;
    }
    EXPECT_EQ(ids_in(api.get("/api/v1/jobs?queue=" + fresh_name("nothing-in-it"))), Ids{});
}

TEST_P(ListJobs, FiltersByTenantLabelAndWorker) {
    const std::string tenant = fresh_name("tenant");
    const std::string theirs = api.submit_id({{"tenant", tenant}});
    const std::string labeled = api.submit_id({{"labels", List{"a", "zone=eu"}}});
    const std::string worker = fresh_name("worker");
    const Json lease = api.claim_one({{"worker_id", worker}, {"labels", List{"a", "zone=eu"}}});

    EXPECT_EQ(listed(api, "tenant=" + tenant), (Ids{theirs}));
    EXPECT_EQ(listed(api, "label=zone%3Deu"), (Ids{labeled}));
    EXPECT_EQ(listed(api, "label=zone"), Ids{});
    EXPECT_EQ(listed(api, "worker_id=" + worker), (Ids{job_of(lease)}));
    expect_ok(api.succeed(lease));
    EXPECT_EQ(listed(api, "worker_id=" + worker), Ids{}) << "it holds nothing any more";
}

TEST_P(ListJobs, FiltersByState) {
    std::map<std::string, std::string> by_state;
    for (const char* outcome : {"succeeded", "failed", "canceled", "timed_out"}) {
        by_state[outcome] = api.submit_id({{"max_attempts", 1}});
        expect_ok(api.report(api.claim_one(), {{"outcome", outcome}}));
    }
    by_state["running"] = api.submit_id();
    api.claim_one();
    by_state["queued"] = api.submit_id();

    for (const auto& [state, id] : by_state) EXPECT_EQ(listed(api, "state=" + state), (Ids{id}));
    EXPECT_EQ(listed(api, "state=queued,running"), (Ids{by_state["queued"], by_state["running"]}));
    EXPECT_EQ(listed(api, "state=failed,succeeded"),
              (Ids{by_state["failed"], by_state["succeeded"]}));
    EXPECT_EQ(listed(api, "state=queued,failed"), (Ids{by_state["queued"], by_state["failed"]}));
    EXPECT_EQ(listed(api, "state=queued,running,succeeded,failed,canceled,timed_out").size(), 6u);
}

TEST_P(ListJobs, FiltersByTimeOfCreation) {
    const Json a = api.submit();
    const std::string next = "2099-01-01T00:00:00Z";

    EXPECT_EQ(listed(api, "created_from=" + text(a, "created_at")), (Ids{text(a, "id")}));
    EXPECT_EQ(listed(api, "created_before=" + next), (Ids{text(a, "id")}));
    EXPECT_EQ(listed(api, "created_from=" + next), Ids{});
    EXPECT_EQ(listed(api, "created_before=2001-01-01T00:00:00%2B01:00"), Ids{});
}

TEST_P(ListJobs, CombinesFilters) {
    const std::string both = api.submit_id({{"type", "a"}, {"project", "p"}});
    api.submit({{"type", "a"}, {"project", "q"}});
    api.submit({{"type", "b"}, {"project", "p"}});

    EXPECT_EQ(listed(api, "type=a&project=p&state=queued"), (Ids{both}));
}

TEST_P(ListJobs, TreatsFilterTextAsTextOnly) {
    api.submit();
    for (const char* text : {"%25", "'%20OR%201=1--", "_", "%5C", "*", "%22"}) {
        EXPECT_EQ(listed(api, std::string("type=") + text), Ids{}) << text;
        EXPECT_EQ(listed(api, std::string("label=") + text), Ids{}) << text;
    }
}

TEST_P(ListJobs, PagesThroughAllWithoutRepeatOrGap) {
    const List accepted = api.submit_batch(std::vector<Fields>(25));
    std::set<std::string> wanted;
    for (const Json& job : accepted) wanted.insert(text(job, "id"));

    Ids seen;
    std::string path = "/api/v1/jobs?limit=4&queue=" + api.queue();
    for (int page = 0; page < 20; ++page) {
        const Response response = api.http.get(path);
        const Json answer = expect_ok(response);
        for (const std::string& id : ids_in(answer)) seen.push_back(id);
        api.submit();  // newer than all: must not shift the later pages
        if (is_null(answer, "next_cursor")) break;
        EXPECT_LE(list(answer, "jobs").size(), 4u);
        const std::string link = response.header("Link");
        path = link.substr(1, link.find('>') - 1);
        EXPECT_NE(path.find(text(answer, "next_cursor")), std::string::npos);
    }

    EXPECT_EQ(seen.size(), 25u);
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), wanted);
    EXPECT_TRUE(std::is_sorted(seen.rbegin(), seen.rend()));
}

constexpr std::size_t page_bytes = 4 * 1024 * 1024;

// The jobs of a page have payload, result and secrets; the text that is sent counts.
TEST_P(ListJobs, PagesOfLargeJobsEndAtFourMebibytesOfText) {
    std::set<std::string> wanted;
    for (int i = 0; i < 24; ++i) {
        const std::string large(200'000, static_cast<char>('a' + i));
        wanted.insert(api.submit_id({{"payload", large}}));
        const Json result = Fields{{"text", std::string(100'000 + 5000 * i, 'r')}};
        expect_ok(api.report(api.claim_one(), {{"outcome", "succeeded"}, {"result", result}}));
    }

    Ids seen;
    int pages = 0;
    std::string path = "/api/v1/jobs?limit=200&queue=" + api.queue();
    for (bool more = true; more && pages < 20; ++pages) {
        const Response response = api.http.get(path);
        const Json page = expect_ok(response);
        EXPECT_LE(response.body.size(), page_bytes);
        more = !is_null(page, "next_cursor");
        EXPECT_TRUE(!more || response.body.size() > page_bytes - 500'000);
        for (const Json& job : list(page, "jobs")) {
            seen.push_back(text(job, "id"));
            EXPECT_EQ(text(job, "payload").size(), 200'000u);
        }
        const std::string link = response.header("Link");
        EXPECT_EQ(link.empty(), !more);
        path = link.substr(link.empty() ? 0 : 1, link.find('>') - 1);
    }

    EXPECT_EQ(pages, 3);  // 8.6 MB
    EXPECT_EQ(seen.size(), 24u);
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), wanted);
    EXPECT_TRUE(std::is_sorted(seen.rbegin(), seen.rend()));
}

TEST_P(ListJobs, PagesOfLongLogsEndAtFourMebibytesOfText) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    for (int i = 0; i < 9; ++i) {
        List lines;
        for (int j = 0; j < 15; ++j) {
            lines.push_back(Fields{{"message", std::string(j % 2 == 0 ? 60'000 : 10, 'x')}});
        }
        expect_ok(api.log(lease, lines));
    }

    std::int64_t after = 0;
    for (int pages = 0; pages < 3; ++pages) {
        const Response response =
            api.http.get("/api/v1/jobs/" + id + "/logs?limit=1000&after=" + std::to_string(after));
        const Json page = expect_ok(response);
        EXPECT_LE(response.body.size(), page_bytes);
        for (const Json& line : list(page, "logs")) {
            EXPECT_EQ(number(line, "seq"), ++after);
            EXPECT_EQ(text(line, "message").size(), (after - 1) % 15 % 2 == 0 ? 60'000u : 10u);
        }
        EXPECT_EQ(number(page, "next_after"), after);
        EXPECT_TRUE(pages > 0 || response.body.size() > page_bytes - 100'000);
    }
    EXPECT_EQ(after, 135);
}

// The usual page is one piece, and has a length; a longer one ends by itself, on the same
// connection.
TEST_P(ListJobs, LongPagesAreSentInChunksAndHeadsHaveNone) {
    api.submit_batch(std::vector<Fields>(20, Fields{{"payload", std::string(20'000, 'x')}}));
    const std::string path = "/api/v1/jobs?queue=" + api.queue();

    const Response one = api.http.get(path + "&limit=1");
    EXPECT_EQ(one.header("Content-Length"), std::to_string(one.body.size()));
    const Response all = api.http.get(path);
    EXPECT_EQ(all.header("Transfer-Encoding"), "chunked");
    EXPECT_EQ(all.header("Content-Length"), "");
    EXPECT_EQ(ids_in(parse(all.body)).size(), 20u);
    Client head(engine.port());
    head.send(request_text("HEAD", path, ""));
    EXPECT_EQ(head.receive_head()->header("Transfer-Encoding"), "chunked");
    EXPECT_EQ(head.get("/healthz").status, 200);
}

TEST_P(ListJobs, PagesEachKindOfListByCursor) {
    for (int i = 0; i < 9; ++i) {
        api.submit({{"max_attempts", 1}});
        const char* outcome = i % 3 == 0 ? "succeeded" : i % 3 == 1 ? "failed" : "canceled";
        expect_ok(api.report(api.claim_one(), {{"outcome", outcome}}));
    }
    api.submit_batch(std::vector<Fields>(6));
    api.claim({{"limit", 3}});
    const std::map<std::string, std::size_t> kinds{
        {"state=running", 3},          {"state=queued", 3},    {"state=failed", 3},
        {"state=failed,canceled", 6},  {"state=succeeded", 3}, {"state=succeeded,failed", 6},
        {"state=queued,succeeded", 6}, {"worker_id=worker", 3}};
    for (const auto& [query, count] : kinds) {
        Ids seen;
        std::string cursor;
        do {
            const Json page = api.get("/api/v1/jobs?limit=2&queue=" + api.queue() + "&" + query +
                                      (cursor.empty() ? "" : "&cursor=" + cursor));
            for (const std::string& id : ids_in(page)) seen.push_back(id);
            cursor = text(page, "next_cursor");
        } while (!cursor.empty() && seen.size() < 50);
        EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), count) << query;
        EXPECT_EQ(seen.size(), count) << query;
    }
}

TEST_P(ListJobs, RefusesCursorsThatItDidNotGive) {
    api.submit_batch(std::vector<Fields>(3));
    const std::string path = "/api/v1/jobs?limit=1&queue=" + api.queue();
    const std::string cursor = text(api.get(path), "next_cursor");
    EXPECT_EQ(api.http.get(path + "&cursor=" + cursor).status, 200);

    const std::string short_one = cursor.substr(1);
    for (const std::string& bad :
         {std::string("x"), short_one, cursor + "0", std::string(40, 'f'), std::string("")}) {
        expect_refused(api.http.get(path + "&cursor=" + bad), 400, "malformed");
    }
    expect_refused(api.http.get(path + "&type=task&cursor=" + cursor), 400, "malformed");
    expect_refused(api.http.get("/api/v1/jobs?cursor=" + cursor), 400, "malformed");
}

TEST_P(ListJobs, FindsJobsByTheBeginningOfTheirIds) {
    const std::string id = api.submit_id();
    const auto found = [&](const std::string& prefix) {
        std::vector<std::string> ids;
        for (const Json& job : list(api.get("/api/v1/jobs?limit=200&id_prefix=" + prefix), "jobs"))
            ids.push_back(text(job, "id"));
        return ids;
    };

    EXPECT_EQ(found(id), std::vector<std::string>{id});
    for (std::size_t digits = 1; digits < id.size(); ++digits) {
        const auto ids = found(id.substr(0, digits));
        EXPECT_EQ(ids.front() >= id, true) << digits;
        for (const std::string& other : ids) EXPECT_TRUE(other.starts_with(id.substr(0, digits)));
    }
    EXPECT_TRUE(found("ffff").empty());
    EXPECT_TRUE(found("00").empty());
    EXPECT_TRUE(found(id.substr(0, 8) + "ffff").empty()) << "no millisecond has this number";
}

TEST_P(ListJobs, ChecksItsParameters) {
    for (const char* bad : {"limit=0",
                            "limit=201",
                            "limit=-1",
                            "limit=1e1",
                            "limit=",
                            "limit=+1",
                            "state=done",
                            "state=queued,",
                            "replay_of=x",
                            "created_from=yesterday",
                            "created_before=1",
                            "page=2",
                            "id_prefix=",
                            "id_prefix=xyz",
                            "id_prefix=AB",
                            "state=queued&state=queued",
                            "=x",
                            "type=%zz",
                            "type=%00",
                            "type=%ff",
                            "State=queued"}) {
        const Response response = api.http.get(std::string("/api/v1/jobs?") + bad);
        if (std::string_view(bad) == "state=queued,") {
            EXPECT_LT(response.status, 500);
            continue;
        }
        expect_refused(response, 400, "malformed");
    }
    EXPECT_EQ(api.http.get("/api/v1/jobs?limit=200").status, 200);
    EXPECT_EQ(api.http.get("/api/v1/jobs?").status, 200);
}

TEST_P(ListJobs, EventsArePagedToo) {
    const std::string id = api.submit_id();
    for (int i = 0; i < 6; ++i) expect_ok(api.release(api.claim_one()));

    std::vector<std::int64_t> seen;
    std::int64_t after = 0;
    for (;;) {
        const Json page =
            api.get("/api/v1/jobs/" + id + "/events?limit=5&after=" + std::to_string(after));
        if (list(page, "events").empty()) break;
        for (const Json& event : list(page, "events")) seen.push_back(number(event, "seq"));
        after = number(page, "next_after");
    }

    ASSERT_EQ(seen.size(), 13u);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i], static_cast<std::int64_t>(i) + 1);
    }
}

TEST_P(ListJobs, AJobIsSeenByItsTenantOnly) {
    const std::string id = api.submit_id({{"tenant", "acme"}});
    EXPECT_EQ(api.http.get("/api/v1/jobs/" + id + "?tenant=acme").status, 200);
    for (const char* part : {"", "/logs", "/events", "/explain", "/stream"}) {
        expect_refused(api.http.get("/api/v1/jobs/" + id + part + "?tenant=other"), 404,
                       "not_found");
    }
}

TEST_P(ListJobs, HeadAnswersLikeGetWithoutTheBody) {
    const std::string id = api.submit_id();
    Client client(engine.port());
    client.send(request_text("HEAD", "/api/v1/jobs/" + id, ""));

    const auto head = client.receive_head();

    ASSERT_TRUE(head);
    EXPECT_EQ(head->status, 200);
    EXPECT_GT(std::stoi(head->header("Content-Length")), 100);
    EXPECT_EQ(client.get("/healthz").status, 200) << "no body is in the way";
}

}  // namespace list_test
}  // namespace sluice::e2e
