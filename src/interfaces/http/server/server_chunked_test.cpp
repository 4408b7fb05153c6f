// Chunked bodies through the server, with its times and its memory, and the forms of targets.
#include "tests/support/server_test_support.hpp"

namespace sluice::http::testing_support {
namespace server_chunked_test {

std::string chunked_head(std::string_view target, std::string_view more = {}) {
    return "POST " + std::string(target) +
           " HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n" + std::string(more) + "\r\n";
}

std::string chunk(std::string_view bytes) {
    char size[20];
    std::snprintf(size, sizeof(size), "%zx\r\n", bytes.size());
    return size + std::string(bytes) + "\r\n";
}

const std::string last_chunk = "0\r\n\r\n";

TEST(ChunkedRequests, AreAnsweredInOrderBetweenOthers) {
    RunningServer server;
    RawClient client(server.port());
    std::string requests;
    for (int i = 0; i < 200; ++i) {
        const std::string number = std::to_string(i);
        requests += i % 2 == 0 ? chunked_head("/c") + chunk(number) + chunk("+") + last_chunk
                               : post("/p", number);
    }
    client.send(requests);
    for (int i = 0; i < 200; ++i) {
        const std::string number = std::to_string(i);
        ASSERT_EQ(client.read_answer().body,
                  i % 2 == 0 ? "POST /c " + number + "+" : "POST /p " + number);
    }
}

TEST(ChunkedRequests, MayComeByteByByte) {
    RunningServer server(echo, with_limits(patient()));
    RawClient client(server.port());
    const std::string request =
        chunked_head("/c") + "3;x=\"y\"\r\nabc\r\n" + chunk("de") + last_chunk + get("/next");
    for (const char byte : request) client.send({&byte, 1});

    EXPECT_EQ(client.read_answer().body, "POST /c abcde");
    EXPECT_EQ(client.read_answer().body, "GET /next ");
}

TEST(ChunkedRequests, MayBeLargeAndInManySmallChunks) {
    Limits limits = patient();
    limits.body_bytes = 3'000'000;
    RunningServer server(echo, with_limits(limits));
    RawClient client(server.port());
    std::string large;
    std::string expected = "POST /c ";
    for (int i = 0; i < 40; ++i) {
        const std::string part(70'000, static_cast<char>('a' + i % 26));
        large += chunk(part);
        expected += part;
    }
    client.send(chunked_head("/c") + large + last_chunk);
    EXPECT_TRUE(client.read_answer().body == expected);

    std::string small;
    for (int i = 0; i < 60'000; ++i) small += chunk("x");
    client.send(chunked_head("/c") + small + last_chunk + get("/next"));
    EXPECT_TRUE(client.read_answer().body == "POST /c " + std::string(60'000, 'x'));
    EXPECT_EQ(client.read_answer().body, "GET /next ");
}

TEST(ChunkedRequests, AreToldToContinue) {
    RunningServer server;
    RawClient client(server.port());

    client.send(chunked_head("/c", "Expect: 100-continue\r\n"));
    EXPECT_EQ(client.read_answer(false).status, 100);
    client.send(chunk("now") + last_chunk);

    EXPECT_EQ(client.read_answer().body, "POST /c now");
}

TEST(ChunkedRequests, HaveTheLimitOfTheirRoute) {
    Server server({}, echo, [](Request& request) { return request.path.size(); }, {});
    std::thread thread([&] { server.run(); });
    {
        RawClient client(server.port());
        client.send(chunked_head("/%3123?45") + chunk("12") + chunk("34") + last_chunk);
        EXPECT_EQ(client.read_answer().status, 200);
        client.send(chunked_head("/%3123?45") + chunk("12") + chunk("345"));
        EXPECT_EQ(client.read_answer().status, 413);
        EXPECT_TRUE(client.is_closed_by_server());
    }
    server.stop(0ms);
    thread.join();
}

TEST(ChunkedRequests, EndTheConnectionWhenTheyAreMalformed) {
    std::atomic<int> calls = 0;
    RunningServer server([&](const Request& request, Reply reply) {
        ++calls;
        echo(request, reply);
    });
    for (const char* body : {"1\nx\r\n0\r\n\r\n", "x\r\n", "0\r\nX: y\r\n\r\n", "1\r\nxy\r\n"}) {
        RawClient client(server.port());
        client.send(chunked_head("/c") + body + get("/smuggled"));
        const Answer answer = client.read_answer();
        EXPECT_EQ(answer.status, 400);
        EXPECT_NE(answer.body.find("\"code\":\"bad_chunk\""), std::string::npos);
        EXPECT_EQ(answer.header("Connection"), "close");
        EXPECT_TRUE(client.is_closed_by_server());
    }
    EXPECT_EQ(calls, 0);
}

TEST(ChunkedRequests, HaveTheTimeOfABody) {
    Limits limits = patient();
    limits.body_time = 200ms;
    RunningServer server(echo, with_limits(limits));
    RawClient client(server.port());

    client.send(chunked_head("/c") + "5\r\nhe");

    EXPECT_EQ(client.read_answer().status, 408);
    EXPECT_TRUE(client.is_closed_by_server());
}

TEST(ChunkedRequests, TakeTheMemoryOfBodiesForWhatHasComeOfThem) {
    Limits limits = patient();
    limits.body_bytes = 1'000'000;
    limits.body_memory = 100'000;
    RunningServer server(echo, with_limits(limits));
    {
        RawClient client(server.port());
        client.send(chunked_head("/c") + chunk(std::string(90'000, 'x')) + last_chunk);
        EXPECT_EQ(client.read_answer().status, 200);
        client.send(chunked_head("/c") + chunk(std::string(90'000, 'x')) + last_chunk);
        EXPECT_EQ(client.read_answer().status, 200) << "it was not given back";
    }
    RawClient greedy(server.port());
    greedy.send(chunked_head("/c") + chunk(std::string(60'000, 'x')) +
                chunk(std::string(60'000, 'x')));
    const Answer refusal = greedy.read_answer();
    EXPECT_EQ(refusal.status, 503);
    EXPECT_NE(refusal.body.find("\"code\":\"busy\""), std::string::npos);
}

TEST(Targets, MayNameTheHostAndEncodeUnreservedCharacters) {
    RunningServer server([](const Request& request, Reply reply) {
        reply.send(text(std::string(request.path) + " " + std::string(request.query)));
    });
    RawClient client(server.port());

    client.send(get("http://here/a/%62?c=%64"));
    EXPECT_EQ(client.read_answer().body, "/a/b c=%64");
    client.send(get("/%7E%41%20%2d%25"));
    EXPECT_EQ(client.read_answer().body, "/~A%20-%25 ");
    client.send(get("/a/b"));
    EXPECT_EQ(client.read_answer().body, "/a/b ");
}

}  // namespace server_chunked_test
}  // namespace sluice::http::testing_support
