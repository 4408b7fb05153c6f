// Each limit: a request within it is served, one more is refused, and a hundred times as much, too.

#include <gtest/gtest.h>

#include <list>

#include "interfaces/http/server/server.hpp"
#include "tests/support/server_test_support.hpp"

namespace sluice::http {
namespace server_limits_test {

using namespace testing_support;

int status_of(std::uint16_t port, const std::string& request) {
    RawClient client(port);
    client.send(request);
    return client.read_answer().status;
}

std::string announced(std::size_t bytes) {
    return "POST /large HTTP/1.1\r\nHost: here\r\nContent-Length: " + std::to_string(bytes) +
           "\r\n\r\n";
}

TEST(ServerLimits, BoundTheHead) {
    Limits limits = patient();
    limits.header_bytes = 1000;
    RunningServer server(echo, with_limits(limits));
    const auto with_head = [](std::size_t bytes) {
        const std::size_t rest = get("/", "X: \r\n").size();
        return get("/", "X: " + std::string(bytes - rest, 'x') + "\r\n");
    };

    EXPECT_EQ(with_head(1000).size(), 1000u);
    EXPECT_EQ(status_of(server.port(), with_head(1000)), 200);
    EXPECT_EQ(status_of(server.port(), with_head(1001)), 431);
    EXPECT_EQ(status_of(server.port(), with_head(100'000)), 431);
}

TEST(ServerLimits, BoundTheNumberOfHeaders) {
    Limits limits = patient();
    limits.header_bytes = 1024 * 1024;
    limits.header_count = 20;
    RunningServer server(echo, with_limits(limits));
    const auto with_headers = [](int count) {
        std::string lines;
        for (int i = 1; i < count; ++i) lines += "X: y\r\n";  // Host is one of them
        return get("/", lines);
    };

    EXPECT_EQ(status_of(server.port(), with_headers(20)), 200);
    EXPECT_EQ(status_of(server.port(), with_headers(21)), 431);
    EXPECT_EQ(status_of(server.port(), with_headers(2000)), 431);
}

TEST(ServerLimits, BoundTheTarget) {
    Limits limits = patient();
    limits.header_bytes = 1024 * 1024;
    limits.target_bytes = 300;
    RunningServer server(echo, with_limits(limits));
    const auto with_target = [](std::size_t bytes) {
        return get("/" + std::string(bytes - 1, 'a'));
    };

    EXPECT_EQ(status_of(server.port(), with_target(300)), 200);
    EXPECT_EQ(status_of(server.port(), with_target(301)), 414);
    EXPECT_EQ(status_of(server.port(), with_target(30'000)), 414);
}

TEST(ServerLimits, BoundABody) {
    Limits limits = patient();
    limits.body_bytes = 50'000;
    RunningServer server(echo, with_limits(limits));

    EXPECT_EQ(status_of(server.port(), post("/", std::string(50'000, 'x'))), 200);
    EXPECT_EQ(status_of(server.port(), announced(50'001)), 413);
    EXPECT_EQ(status_of(server.port(), announced(5'000'000)), 413);
}

TEST(ServerLimits, HoldAgainstAHundredTimesAsManyConnections) {
    Limits limits = patient();
    limits.connections = 3;
    RunningServer server(echo, with_limits(limits));
    std::list<RawClient> within;
    for (int i = 0; i < 3; ++i) within.emplace_back(server.port());
    server.wait_for_connections(3);

    std::list<RawClient> over;
    for (int i = 0; i < 300; ++i) over.emplace_back(server.port());
    for (RawClient& client : within) {
        client.send(get("/"));
        EXPECT_EQ(client.read_answer().status, 200);
    }
    for (RawClient& client : over) {
        const std::string said = client.read_to_end();
        EXPECT_TRUE(said.empty() || said.starts_with("HTTP/1.1 503")) << said;
    }
}

class BodyMemory : public testing::Test {
  protected:
    static Limits limits() {
        Limits made = patient();
        made.body_bytes = 100'000'000;
        made.body_memory = 100'000;
        return made;
    }
    bool is_served(std::size_t bytes) {
        return status_of(server.port(), post("/", std::string(bytes, 'x'))) == 200;
    }

    // All that these clients have sent by now.
    void wait_until_read(std::size_t clients) {
        server.wait_for_connections(clients);
        std::this_thread::sleep_for(50ms);
        server.settle();
    }

    RunningServer server{echo, with_limits(limits())};
};

TEST_F(BodyMemory, BoundsOneBody) {
    EXPECT_TRUE(is_served(100'000));
    for (const std::size_t bytes : {100'001, 10'000'000}) {
        RawClient client(server.port());
        client.send(announced(bytes));

        const Answer refusal = client.read_answer();
        EXPECT_EQ(refusal.status, 503);
        EXPECT_EQ(refusal.header("Retry-After"), "1");
        EXPECT_TRUE(client.is_closed_by_server());
    }
    EXPECT_TRUE(is_served(100'000));
}

TEST_F(BodyMemory, BoundsAllBodiesTogetherAndIsGivenBack) {
    RawClient first(server.port());
    RawClient second(server.port());
    first.send(announced(60'001) + std::string(60'000, 'x'));
    second.send(announced(30'001) + std::string(30'000, 'x'));
    wait_until_read(2);

    EXPECT_TRUE(is_served(10'000));
    EXPECT_FALSE(is_served(10'001));
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(is_served(99'000));
    EXPECT_TRUE(is_served(5'000)) << "what fits into every connection's buffer costs nothing";

    first.send("x");
    EXPECT_EQ(first.read_answer().status, 200);
    EXPECT_TRUE(is_served(70'000));
    second.close();
    server.wait_for_connections(1);
    EXPECT_TRUE(is_served(100'000));
}

TEST_F(BodyMemory, IsTakenFromTheSlowestWhenOthersNeedIt) {
    RawClient fast(server.port());
    fast.send(announced(60'001) + std::string(60'000, 'x'));
    wait_until_read(1);
    RawClient slow(server.port());  // came later, and yet has sent less in each second
    slow.send(announced(60'000) + std::string(20'000, 'x'));
    wait_until_read(2);
    std::this_thread::sleep_for(1100ms);

    EXPECT_TRUE(is_served(40'000));
    EXPECT_TRUE(slow.is_closed_by_server());
    fast.send("x");
    EXPECT_EQ(fast.read_answer().status, 200);
}

TEST_F(BodyMemory, IsRefusedToWhoIsTheSlowest) {
    RawClient slow(server.port());
    slow.send(announced(90'000) + std::string(20'000, 'x'));
    wait_until_read(1);
    std::this_thread::sleep_for(1100ms);
    RawClient fast(server.port());
    fast.send(announced(70'001) + std::string(70'000, 'x'));
    wait_until_read(2);

    slow.send(std::string(20'000, 'x'));
    EXPECT_EQ(slow.read_answer().status, 503);
    fast.send("x");
    EXPECT_EQ(fast.read_answer().status, 200);
}

// A client that promises much and sends nothing takes no memory, so the other clients lose none.
TEST_F(BodyMemory, IsNotTakenByPromises) {
    RawClient honest(server.port());
    honest.send(announced(60'000));
    std::list<RawClient> promising;
    for (int round = 0; round < 6; ++round) {
        honest.send(std::string(10'000, 'x'));
        for (int i = 0; i < 10; ++i) promising.emplace_back(server.port()).send(announced(99'000));
        std::this_thread::sleep_for(250ms);
    }

    EXPECT_EQ(honest.read_answer().status, 200);
    EXPECT_TRUE(is_served(90'000));
}

TEST(ServerLimits, CutTheSlowestReaderWhenAnswersTakeTooMuchMemory) {
    Limits limits = patient();
    limits.answer_memory = 30'000'000;
    RunningServer server(
        [](const Request&, Reply reply) { reply.send(text(std::string(20'000'000, 'x'))); },
        with_limits(limits));
    RawClient first(server.port(), 4096);
    first.send(get("/"));
    ASSERT_TRUE(first.read_until("xxx"));
    std::this_thread::sleep_for(1100ms);
    RawClient second(server.port(), 4096);
    second.send(get("/"));
    ASSERT_TRUE(second.read_until("xxx"));

    server.wait_for_connections(1);
    EXPECT_EQ(second.read_answer().body.size(), 20'000'000u);
    EXPECT_LT(first.read_to_end().size(), 20'000'000u);
}

TEST(ServerTimeouts, EndABodyThatWasAnnouncedAndDoesNotCome) {
    Limits limits = patient();
    limits.body_time = 100ms;
    RunningServer server(echo, with_limits(limits));
    const auto start = std::chrono::steady_clock::now();

    EXPECT_EQ(status_of(server.port(), announced(1'000'000) + "x"), 408);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST(ServerTimeouts, GiveABodyThatComesSteadilyAllTheTimeItNeeds) {
    Limits limits = patient();
    limits.body_time = 200ms;
    RunningServer server(echo, with_limits(limits));
    RawClient client(server.port());

    client.send(announced(5 * 2048));
    for (int i = 0; i < 5; ++i) {
        client.send(std::string(2048, 'x'));
        std::this_thread::sleep_for(150ms);
    }

    EXPECT_EQ(client.read_answer().status, 200);
}

TEST(ServerLimits, CutTheSlowestAndThenTheIdleWhenAllPlacesAreTaken) {
    Limits limits = patient();
    limits.connections = 3;
    Desk changes;
    RunningServer server(
        [&](Request& request, Reply reply) {
            if (request.path == "/wait") return changes.handler()(request, std::move(reply));
            echo(request, std::move(reply));
        },
        with_limits(limits));
    RawClient waiting(server.port());
    waiting.send(get("/wait"));
    changes.wait_for_first();
    RawClient idle(server.port());
    RawClient half(server.port());
    half.send("GET / HTTP/1.1\r\nHost:");
    server.wait_for_connections(3);
    std::this_thread::sleep_for(1100ms);

    RawClient first(server.port());
    first.send(get("/first"));
    EXPECT_EQ(first.read_answer().status, 200);
    EXPECT_TRUE(half.is_closed_by_server());
    idle.send(get("/still"));
    EXPECT_EQ(idle.read_answer().status, 200);

    std::this_thread::sleep_for(1100ms);
    idle.send(get("/busy"));
    EXPECT_EQ(idle.read_answer().status, 200);
    EXPECT_EQ(status_of(server.port(), get("/second")), 200);
    EXPECT_TRUE(first.is_closed_by_server());

    server->post([&] { changes.waiting.front().send(text("at last")); });
    EXPECT_EQ(waiting.read_answer().body, "at last");
    server->post([&] { changes.waiting.clear(); });
    server.settle();
}

// A client that holds most connections idle cannot have connections cut that are in the middle of a
// request.
TEST(ServerLimits, CutTheIdleFirstWhenTheyTakeMostOfThePlaces) {
    Limits limits = patient();
    limits.connections = 4;
    RunningServer server(echo, with_limits(limits));
    RawClient honest(server.port());
    honest.send(announced(10) + "01234");
    std::list<RawClient> idle;
    for (int i = 0; i < 3; ++i) idle.emplace_back(server.port());
    server.wait_for_connections(4);
    std::this_thread::sleep_for(1100ms);

    EXPECT_EQ(status_of(server.port(), get("/")), 200);
    honest.send("56789");
    EXPECT_EQ(honest.read_answer().status, 200);
}

}  // namespace server_limits_test
}  // namespace sluice::http
