#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "interfaces/worker/executors/executor.hpp"
#include "interfaces/worker/executors/url_text.hpp"
#include "tests/support/test_context.hpp"
#include "tests/support/test_http_server.hpp"

namespace sluice::worker {
namespace call_http_test {

using namespace std::chrono_literals;
using client::Job;
using client::Outcome;
using client::StopReason;
using test::HttpServer;
using test::TestContext;

Job some_job() {
    return {.id = "job-7",
            .tenant = "default",
            .project = "shop",
            .type = "notify",
            .entity_id = "order \"5\"",
            .payload = R"({"amount": 1.50})",
            .attempt = 2,
            .max_attempts = 3};
}

HttpExecutor executor_for(std::string url) {
    return {.url = std::move(url), .timeout = 5s, .allow_private_addresses = true};
}

Outcome call(const HttpExecutor& executor, TestContext& context) {
    return http_worker(executor)->execute(some_job(), context);
}

// The outcome of a call that gets this answer.
Outcome outcome_of(const std::string& answer) {
    HttpServer server([&](const std::string&) { return answer; });
    TestContext context;
    return call(executor_for(server.url("/")), context);
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(HttpWorker, SendsTheJobAndTakesTheAnswerAsResult) {
    HttpServer server(
        [](const std::string&) { return HttpServer::answer("200 OK", " {\"sent\": 1.0}\n"); });
    HttpExecutor executor = executor_for(server.url("/jobs"));
    executor.headers = {{"X-Team", "blue"}, {"content-type", "application/vnd.job+json"}};
    TestContext context;

    const Outcome outcome = call(executor, context);

    EXPECT_EQ(outcome.kind, Outcome::Kind::succeeded);
    EXPECT_EQ(outcome.result, R"({"sent": 1.0})");
    const std::string request = server.requests().at(0);
    EXPECT_TRUE(request.starts_with("POST /jobs HTTP/1.1\r\n")) << request;
    EXPECT_TRUE(holds(request, "\r\nSluice-Job-Id: job-7\r\n")) << request;
    EXPECT_TRUE(holds(request, "\r\nSluice-Lease-Id: lease-1\r\n")) << request;
    EXPECT_TRUE(holds(request, "\r\nIdempotency-Key: \"job-7/2\"\r\n")) << request;
    EXPECT_TRUE(holds(request, "\r\nX-Team: blue\r\n")) << request;
    EXPECT_TRUE(holds(request, "\r\ncontent-type: application/vnd.job+json\r\n")) << request;
    EXPECT_FALSE(holds(request, "Content-Type: application/json")) << request;
    EXPECT_EQ(request.substr(request.find("\r\n\r\n") + 4),
              R"({"job_id":"job-7","type":"notify","attempt":2,"max_attempts":3,)"
              R"("tenant":"default","project":"shop","queue":null,"entity_type":null,)"
              R"("entity_id":"order \"5\"","site_id":null,"node_id":null,)"
              R"("correlation_id":null,"lease_id":"lease-1","payload":{"amount": 1.50}})");
    ASSERT_EQ(context.lines().size(), 2u) << context.text();
    EXPECT_EQ(context.lines()[0].message, "POST " + server.url("/jobs"));
    EXPECT_TRUE(context.lines()[1].message.starts_with("answered 200 in "));
    EXPECT_TRUE(context.lines()[1].data.starts_with(R"({"status":200,"duration_ms":)"));
}

TEST(HttpWorker, TakesAnEmptyAnswerAsNoResult) {
    const Outcome outcome = outcome_of(HttpServer::answer("204 No Content", ""));

    EXPECT_EQ(outcome.kind, Outcome::Kind::succeeded);
    EXPECT_EQ(outcome.result, "");
}

TEST(HttpWorker, RefusesAnAnswerThatIsNoResult) {
    for (const std::string& body :
         {std::string("<html>"), std::string("{} {}"), std::string(256 * 1024 + 1, ' ')}) {
        const Outcome outcome = outcome_of(HttpServer::answer("200 OK", body));

        EXPECT_EQ(outcome.kind, Outcome::Kind::failed);
        const bool is_large = body.size() > 10;
        EXPECT_EQ(outcome.error_code, is_large ? "RESULT_TOO_LARGE" : "INVALID_RESULT");
        EXPECT_FALSE(outcome.retryable);
        EXPECT_TRUE(holds(outcome.error_message, is_large ? "longer than" : "not JSON"))
            << outcome.error_message;
    }
}

TEST(HttpWorker, JudgesByTheStatusHoweverLongTheBodyIs) {
    const Outcome outcome =
        outcome_of(HttpServer::answer("404 Not Found", std::string(1'200'000, 'x')));

    EXPECT_EQ(outcome.error_code, "HTTP_404");
    EXPECT_FALSE(outcome.retryable);
    EXPECT_LT(outcome.error_message.size(), 4000u);
}

TEST(HttpWorker, RetriesWhatMayPass) {
    struct Case {
        std::string status{};
        bool retryable = false;
    };
    for (const Case& expected : {Case{"400", false}, Case{"404", false}, Case{"422", false},
                                 Case{"304", false}, Case{"408", true}, Case{"425", true},
                                 Case{"429", true}, Case{"500", true}, Case{"503", true}}) {
        const Outcome outcome =
            outcome_of(HttpServer::answer(expected.status + " Oh", "the till is closed"));

        EXPECT_EQ(outcome.kind, Outcome::Kind::failed);
        EXPECT_EQ(outcome.error_code, "HTTP_" + expected.status);
        EXPECT_EQ(outcome.retryable, expected.retryable) << expected.status;
        if (expected.status != "304") {
            EXPECT_EQ(outcome.error_message, "HTTP " + expected.status + ": the till is closed");
        }
    }
}

TEST(HttpWorker, TellsTheDetailOfAProblemAndNoMoreThanTheBeginOfAPage) {
    const Outcome problem = outcome_of(HttpServer::answer(
        "422 Unprocessable", R"({"title":"no","detail":"amount must be positive"})",
        "Content-Type: application/problem+json\r\n"));
    const Outcome page = outcome_of(HttpServer::answer("500 Oh", std::string(100'000, 'x')));

    EXPECT_EQ(problem.error_message, "HTTP 422: amount must be positive");
    EXPECT_EQ(page.error_message, "HTTP 500: " + std::string(2048, 'x'));
}

TEST(HttpWorker, FollowsRedirectsAndKeepsSecretsFromOtherHosts) {
    HttpServer server([&](const std::string& request) {
        if (request.starts_with("POST /same ")) return HttpServer::answer("200 OK", "1");
        if (request.starts_with("GET /other ")) return HttpServer::answer("200 OK", "2");
        if (request.starts_with("POST /307 ")) {
            return HttpServer::answer("307 Go", "", "Location: /same\r\n");
        }
        const std::string port = request.substr(request.find("Host: 127.0.0.1:") + 16);
        const std::string host = "localhost:" + port.substr(0, port.find('\r'));
        return HttpServer::answer("302 Go", "", "Location: http://" + host + "/other\r\n");
    });
    TestContext context;
    HttpExecutor executor = executor_for(server.url("/307", "ada:secret@127.0.0.1"));
    executor.headers = {{"X-Key", "hush"}};

    const Outcome same = call(executor, context);
    executor.url = server.url("/302");
    const Outcome other = call(executor, context);

    EXPECT_EQ(same.result, "1") << same.error_message;
    EXPECT_EQ(other.result, "2") << other.error_message;
    const std::vector<std::string> requests = server.requests();
    ASSERT_EQ(requests.size(), 4u);
    EXPECT_TRUE(holds(requests[1], "\"payload\":")) << requests[1];
    EXPECT_TRUE(holds(requests[1], "X-Key: hush")) << requests[1];
    EXPECT_TRUE(holds(requests[1], "Authorization: Basic")) << requests[1];
    EXPECT_TRUE(holds(requests[2], "X-Key: hush")) << requests[2];
    EXPECT_FALSE(holds(requests[3], "X-Key: hush")) << requests[3];
    EXPECT_FALSE(holds(requests[3], "\"payload\":")) << requests[3];
    EXPECT_TRUE(holds(requests[3], "Sluice-Job-Id: job-7")) << requests[3];
}

TEST(HttpWorker, GivesUpOnALoopOfRedirects) {
    HttpServer server([&](const std::string&) {
        return HttpServer::answer("308 Go", "", "Location: /again?token=hush\r\n");
    });
    TestContext context;
    HttpExecutor executor = executor_for(server.url("/"));
    executor.redirects_max = 3;

    const Outcome outcome = call(executor, context);

    EXPECT_EQ(outcome.error_code, "HTTP_REDIRECTS");
    EXPECT_FALSE(outcome.retryable);
    EXPECT_EQ(outcome.error_message,
              "redirected more than 3 times, last to " + server.url("/again"));
    EXPECT_EQ(server.requests().size(), 4u);
}

TEST(HttpWorker, FollowsNoRedirectToAnotherKindOfAddress) {
    HttpServer server([&](const std::string&) {
        return HttpServer::answer("302 Go", "", "Location: file:///etc/passwd\r\n");
    });
    TestContext context;

    const Outcome outcome = call(executor_for(server.url("/")), context);

    EXPECT_EQ(outcome.error_code, "HTTP_REDIRECTS");
    EXPECT_FALSE(outcome.retryable);
}

TEST(HttpWorker, SendsNoSecretsWhereARedirectMisleads) {
    HttpServer evil([](const std::string&) { return HttpServer::answer("200 OK", "1"); });
    std::string location;
    HttpServer good([&](const std::string&) {
        return HttpServer::answer("307 Go", "", "Location: " + location + "\r\n");
    });
    const std::string evil_url = evil.url("/steal").substr(7);
    for (const std::string& target :
         {good.url("") + "\\@" + evil_url, "http://ada:hush@" + evil_url, good.url("\\steal"),
          good.url("/a\x01"), "http://" + good.url("").substr(7) + "@" + evil_url,
          good.url("/", "eve:hush@127.0.0.1"), std::string("http://[zz/")}) {
        location = target;
        TestContext context;
        HttpExecutor executor = executor_for(good.url("/", "ada:own@127.0.0.1"));
        executor.headers = {{"X-Key", "hush"}};

        const Outcome outcome = call(executor, context);

        EXPECT_EQ(outcome.error_code, "HTTP_REDIRECTS") << target;
        EXPECT_FALSE(outcome.retryable);
        EXPECT_FALSE(holds(context.text() + outcome.error_message, "hush"))
            << context.text() << outcome.error_message;
    }
    EXPECT_TRUE(evil.requests().empty());
    EXPECT_EQ(good.requests().size(), 7u);
}

TEST(HttpWorker, RefusesPrivateAddressesUnlessTheyAreAllowed) {
    HttpServer server([](const std::string&) { return HttpServer::answer("200 OK", "{}"); });
    for (const char* host : {"127.0.0.1", "localhost", "2130706433"}) {
        TestContext context;
        HttpExecutor executor = executor_for(server.url("/", host));
        executor.allow_private_addresses = false;

        const Outcome outcome = call(executor, context);

        EXPECT_EQ(outcome.error_code, "HTTP_ADDRESS_REFUSED") << host;
        EXPECT_FALSE(outcome.retryable);
        EXPECT_TRUE(holds(outcome.error_message, "127.0.0.1") ||
                    holds(outcome.error_message, "::1"))
            << outcome.error_message;
    }
    EXPECT_TRUE(server.requests().empty());
}

TEST(HttpWorker, RetriesWhenNobodyIsThere) {
    std::string url;
    {
        HttpServer gone([](const std::string&) { return std::string(); });
        url = gone.url("/");
    }
    TestContext context;

    const Outcome outcome = call(executor_for(url), context);

    EXPECT_EQ(outcome.error_code, "HTTP_UNREACHABLE");
    EXPECT_TRUE(outcome.retryable);
}

TEST(HttpWorker, RetriesWhenTheAnswerTakesTooLong) {
    HttpServer server([](const std::string&) { return std::string(); });
    TestContext context;
    HttpExecutor executor = executor_for(server.url("/"));
    executor.timeout = 100ms;

    const Outcome outcome = call(executor, context);

    EXPECT_EQ(outcome.error_code, "HTTP_TIMEOUT");
    EXPECT_TRUE(outcome.retryable);
}

TEST(HttpWorker, EndsTheCallWhenTheJobShouldStop) {
    HttpServer server([](const std::string&) { return std::string(); });
    TestContext context;
    std::jthread canceler([&] {
        std::this_thread::sleep_for(50ms);
        context.token.request(StopReason::canceled);
    });

    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = call(executor_for(server.url("/")), context);

    EXPECT_EQ(outcome.kind, Outcome::Kind::canceled);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

TEST(HttpWorker, TellsNoSecrets) {
    HttpServer server([](const std::string&) { return HttpServer::answer("500 Oh", "no"); });
    const std::string host = "ada:hush@127.0.0.1";
    for (const std::string& url :
         {server.url("/a?token=hush#hush", host), std::string("http://ada:hush@[zz/?token=hush"),
          std::string("ftp://ada:hush@host/?token=hush"),
          std::string("http://ada:hush@127.0.0.1:1/?token=hush")}) {
        TestContext context;
        HttpExecutor executor = executor_for(url);
        executor.headers = {{"Authorization", "Bearer hush"}};

        const Outcome outcome = call(executor, context);

        EXPECT_EQ(outcome.kind, Outcome::Kind::failed) << url;
        EXPECT_FALSE(holds(context.text() + outcome.error_message, "hush"))
            << context.text() << outcome.error_message;
    }
}

TEST(UrlText, ComparesOriginsByWhatTheyMean) {
    EXPECT_EQ(origin("HTTP://Host:80/a"), origin("http://u:p@host/b?c"));
    EXPECT_NE(origin("http://host/"), origin("https://host/"));
    EXPECT_NE(origin("http://host/"), origin("http://host:8080/"));
    EXPECT_NE(origin("http://host@evil/"), origin("http://host/"));
    EXPECT_NE(origin("http://host\\@evil/"), origin("http://host/"));
    EXPECT_EQ(origin("ftp://host/"), "");
}

TEST(UrlText, ShowsNoSecrets) {
    EXPECT_EQ(shown_url("http://ada:hush@host:80/a@b?c=hush#hush"), "http://host:80/a@b");
    EXPECT_EQ(shown_url("ada:hush@host/a"), "host/a");
    EXPECT_EQ(shown_url("ada:hush@host/a?next=http://x"), "host/a");
    EXPECT_EQ(shown_url("http://ada:hu/sh@host/"), "http://(hidden)");
    EXPECT_EQ(shown_url("http://ada:hu?sh@host/"), "http://(hidden)");
}

}  // namespace call_http_test
}  // namespace sluice::worker
