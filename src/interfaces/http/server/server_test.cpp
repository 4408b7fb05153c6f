#include "interfaces/http/server/server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "tests/support/server_test_support.hpp"

namespace sluice::http {
namespace server_test {

using namespace testing_support;

TEST(Server, AnswersARequest) {
    RunningServer server;
    RawClient client(server.port());

    client.send(post("/jobs?a=b", "hello"));
    const Answer answer = client.read_answer();

    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "POST /jobs?a=b hello");
    EXPECT_EQ(answer.header("Content-Type"), "text/plain");
    EXPECT_EQ(answer.header("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer.header("Cache-Control"), "no-store");
    EXPECT_EQ(answer.header("X-Request-Id").size(), 20u);
}

TEST(Server, ShowsTheHandlerAllOfTheRequest) {
    RunningServer server([](const Request& request, Reply reply) {
        const std::string_view* header = request.header("x-one");
        std::string body(request.path);
        body.append("|").append(request.query).append("|").append(header ? *header : "-");
        body.append("|").append(request.request_id).append("|").append(request.remote_address);
        reply.send(text(std::move(body)));
    });
    RawClient client(server.port());

    client.send(get("/a/b?c=d?e", "X-ONE:  1 \r\nX-Request-Id: mine-7\r\n"));
    const Answer answer = client.read_answer();

    EXPECT_EQ(answer.body, "/a/b|c=d?e|1|mine-7|127.0.0.1");
    EXPECT_EQ(answer.header("X-Request-Id"), "mine-7");
}

TEST(Server, MakesItsOwnRequestIdWhenTheGivenOneIsMalformed) {
    RunningServer server;
    RawClient client(server.port());

    client.send(get("/", "X-Request-Id: a b\r\n"));

    EXPECT_EQ(client.read_answer().header("X-Request-Id").size(), 20u);
}

TEST(Server, AnswersAlikeInWhateverTwoPiecesARequestArrives) {
    RunningServer server;
    for (const std::string& request :
         {get("/a"), post("/b", "0123456789"), post("/c", ""), get("/d", "X: y\r\nZ: z\r\n")}) {
        RawClient client(server.port());
        client.send(request);
        const Answer whole = client.read_answer();
        ASSERT_EQ(whole.status, 200);
        for (std::size_t cut = 1; cut < request.size(); ++cut) {
            client.send(request.substr(0, cut));
            server.settle();  // the first part is most likely read by itself
            client.send(request.substr(cut));
            EXPECT_EQ(client.read_answer().body, whole.body) << cut;
        }
    }
}

TEST(Server, TakesARequestByteByByte) {
    RunningServer server;
    RawClient client(server.port());

    for (const char c : post("/slow", "body")) {
        client.send(std::string(1, c));
        server.settle();
    }

    EXPECT_EQ(client.read_answer().body, "POST /slow body");
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
    std::vector<std::pair<std::string, Reply>> held;
    Server* self = nullptr;
    RunningServer server([&](const Request& request, Reply reply) {
        if (!request.path.starts_with("/late")) return echo(request, reply);
        self->post([path = std::string(request.path), reply] { reply.send(text(path)); });
    });
    self = server.operator->();
    RawClient client(server.port());

    std::string requests;
    for (int i = 0; i < 50; ++i) {
        requests += i % 3 == 0 ? get("/late" + std::to_string(i)) : post("/now", std::to_string(i));
    }
    client.send(requests);

    for (int i = 0; i < 50; ++i) {
        const std::string number = std::to_string(i);
        EXPECT_EQ(client.read_answer().body, i % 3 == 0 ? "/late" + number : "POST /now " + number);
    }
}

TEST(Server, TakesABodyUpToItsLimit) {
    Limits limits;
    limits.body_bytes = 300'000;
    RunningServer server(echo, with_limits(limits));
    RawClient client(server.port());

    for (int i = 0; i < 2; ++i) {
        client.send(post("/big", std::string(limits.body_bytes, 'x')));
        EXPECT_EQ(client.read_answer().body.size(), limits.body_bytes + 10);
    }
    client.send(post("/big", std::string(limits.body_bytes + 1, 'x')));
    EXPECT_EQ(client.read_answer().status, 413);
    EXPECT_TRUE(client.is_closed_by_server());
}

TEST(Server, AsksTheRouteForItsBodyLimit) {
    Server server({}, echo, [](Request& request) { return request.path.size(); }, {});
    std::thread thread([&] { server.run(); });
    {
        RawClient client(server.port());
        client.send(post("/123?45", "1234"));
        EXPECT_EQ(client.read_answer().status, 200);
        client.send(post("/123?45", "12345"));
        EXPECT_EQ(client.read_answer().status, 413);
    }
    server.stop(0ms);
    thread.join();
}

// The bytes of a large request move while it arrives.
TEST(Server, AsksOnceForTheDestinationOfARequestAndKeepsIt) {
    std::atomic<int> calls = 0;
    const auto on_head = [&](Request& request) {
        ++calls;
        EXPECT_EQ(request.destination.params.count(), 0u);
        request.destination.params.add(1, request.path.size() - 1);
        return std::size_t{1'000'000};
    };
    const auto say_where = [](const Request& request, const Reply& reply) {
        reply.send({.body = std::string(request.param(0))});
    };
    Server server({}, say_where, on_head, {});
    std::thread thread([&] { server.run(); });
    {
        RawClient client(server.port());
        const std::string large = post("/first%2Dpath", std::string(300'000, 'x'));
        for (std::size_t at = 0; at < large.size(); at += 50'000) {
            client.send(std::string_view(large).substr(at, 50'000));
            std::this_thread::sleep_for(5ms);
        }
        EXPECT_EQ(client.read_answer().body, "first-path");
        client.send(get("/second") + post("/third", "3"));
        EXPECT_EQ(client.read_answer().body, "second");
        EXPECT_EQ(client.read_answer().body, "third");
    }
    server.stop(0ms);
    thread.join();
    EXPECT_EQ(calls, 3);
}

TEST(Server, ClosesAfterARejectionAndServesNothingThatFollows) {
    std::atomic<int> calls = 0;
    RunningServer server([&](const Request& request, Reply reply) {
        ++calls;
        echo(request, reply);
    });
    RawClient client(server.port());

    client.send(get("/", "Transfer-Encoding: gzip\r\n") + get("/smuggled"));
    const Answer answer = client.read_answer();

    EXPECT_EQ(answer.status, 411);
    EXPECT_EQ(answer.header("Connection"), "close");
    EXPECT_EQ(answer.header("Content-Type"), "application/problem+json");
    EXPECT_NE(answer.body.find("\"code\":\"length_required\""), std::string::npos);
    EXPECT_NE(answer.body.find(answer.header("X-Request-Id")), std::string::npos);
    EXPECT_TRUE(client.is_closed_by_server());
    EXPECT_EQ(calls, 0);
}

TEST(Server, RefusesAnEndlessHead) {
    RunningServer server;
    RawClient client(server.port());

    client.send("GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x'));

    EXPECT_EQ(client.read_answer().status, 431);
}

TEST(Server, RefusesForeignHosts) {
    ServerOptions options;
    options.allowed_hosts = {"Jobs.Example", "::1"};
    RunningServer server(echo, options);

    RawClient known(server.port());
    known.send("GET / HTTP/1.1\r\nHost: jobs.example:1\r\n\r\n");
    EXPECT_EQ(known.read_answer().status, 200);
    RawClient foreign(server.port());
    foreign.send(get("/"));
    EXPECT_EQ(foreign.read_answer().status, 421);
}

TEST(Server, ClosesAfterAnHttp10RequestUnlessAskedToGoOn) {
    RunningServer server;
    RawClient client(server.port());

    for (int i = 0; i < 2; ++i) {
        client.send("GET /old HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
        const Answer kept = client.read_answer();
        EXPECT_EQ(kept.body, "GET /old ");
        EXPECT_EQ(kept.header("Connection"), "keep-alive");
    }
    client.send("GET /old HTTP/1.0\r\nHost: a\r\n\r\n");

    const Answer last = client.read_answer();
    EXPECT_EQ(last.body, "GET /old ");
    EXPECT_EQ(last.header("Connection"), "close");
    EXPECT_TRUE(client.is_closed_by_server());
}

TEST(Server, ClosesWhenAsked) {
    RunningServer server;
    RawClient client(server.port());

    client.send(get("/", "Connection: close\r\n"));

    EXPECT_EQ(client.read_answer().header("Connection"), "close");
    EXPECT_TRUE(client.is_closed_by_server());
}

TEST(Server, AnswersHeadWithoutTheBody) {
    RunningServer server;
    RawClient client(server.port());

    client.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n" + get("/y"));

    EXPECT_EQ(client.read_answer(false).header("Content-Length"), "8");
    EXPECT_EQ(client.read_answer().body, "GET /y ");
}

TEST(Server, LetsTheClientContinueAfterTheGate) {
    RunningServer server;
    RawClient client(server.port());
    const std::string head = "POST /c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n";

    client.send(head + "Content-Length: 4\r\n\r\n");
    EXPECT_EQ(client.read_answer().status, 100);
    client.send("body");
    EXPECT_EQ(client.read_answer().body, "POST /c body");

    client.send(head + "Content-Length: 99999999\r\n\r\n");
    EXPECT_EQ(client.read_answer().status, 413);
}

TEST(Server, AnswersOnBehalfOfAHandlerThatDoesNot) {
    RunningServer server([](const Request& request, Reply) {
        if (request.path == "/throws") throw std::runtime_error("as the test wants it");
    });
    RawClient client(server.port());

    client.send(get("/drops") + get("/throws"));

    for (int i = 0; i < 2; ++i) {
        const Answer answer = client.read_answer();
        EXPECT_EQ(answer.status, 500);
        EXPECT_NE(answer.body.find("\"code\":\"internal\""), std::string::npos);
    }
}

TEST(Server, TakesTheFirstAnswerOnly) {
    RunningServer server([](const Request&, Reply reply) {
        reply.send(text("first"));
        EXPECT_FALSE(reply.is_open());
        reply.send(text("second"));
    });
    RawClient client(server.port());

    client.send(get("/") + get("/"));

    EXPECT_EQ(client.read_answer().body, "first");
    EXPECT_EQ(client.read_answer().body, "first");
}

TEST(Server, LetsNoHeaderValueStartAnotherHeader) {
    RunningServer server([](const Request&, Reply reply) {
        Response response = text("x", 201);
        response.headers.emplace_back("Location", "/a\r\nSet-Cookie: b");
        response.headers.emplace_back("Cache-Control", "max-age=60");
        reply.send(std::move(response));
    });
    RawClient client(server.port());

    client.send(get("/"));
    const Answer answer = client.read_answer();

    EXPECT_EQ(answer.header("Location"), "/aSet-Cookie: b");
    EXPECT_EQ(answer.header("Set-Cookie"), "");
    EXPECT_EQ(answer.head.find("no-store"), std::string::npos);
}

TEST(Server, TellsTheObserverAboutEachAnswer) {
    std::mutex mutex;
    std::vector<std::string> seen;
    RunningServer server(echo, {}, [&](const RequestRecord& record) {
        const std::lock_guard lock(mutex);
        std::string line(to_text(record.verb));
        line.append(" ").append(record.path).append(" ").append(std::to_string(record.status));
        seen.push_back(std::move(line));
    });
    RawClient client(server.port());

    client.send(get("/a?b") + post("/c", std::string(2'000'000, 'x')));
    client.read_answer();
    client.read_answer();

    const std::lock_guard lock(mutex);
    EXPECT_EQ(seen, (std::vector<std::string>{"GET /a 200", "POST /c 413"}));
}

}  // namespace server_test
}  // namespace sluice::http
