// The server while it waits: for bytes, for an answer, for connections.

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <sys/resource.h>

#include <atomic>
#include <optional>

#include "interfaces/http/server/server.hpp"
#include "tests/support/server_test_support.hpp"

namespace sluice::http {
namespace server_waiting_test {

using namespace testing_support;

TEST(ServerTimeouts, EndsASlowHead) {
    Limits limits = patient();
    limits.header_time = 40ms;
    RunningServer server(echo, with_limits(limits));
    RawClient client(server.port());

    client.send("GET / HTTP/1.1\r\nHost:");

    EXPECT_EQ(client.read_answer().status, 408);
    EXPECT_TRUE(client.is_closed_by_server());
}

TEST(ServerTimeouts, EndsASlowBody) {
    Limits limits = patient();
    limits.body_time = 40ms;
    RunningServer server(echo, with_limits(limits));
    RawClient client(server.port());

    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");

    EXPECT_EQ(client.read_answer().status, 408);
}

TEST(ServerTimeouts, ClosesIdleConnectionsWithoutAWord) {
    Limits limits = patient();
    limits.idle_time = 40ms;
    RunningServer server(echo, with_limits(limits));
    RawClient fresh(server.port());
    RawClient used(server.port());

    used.send(get("/"));

    EXPECT_EQ(used.read_answer().status, 200);
    EXPECT_TRUE(used.is_closed_by_server());
    EXPECT_TRUE(fresh.is_closed_by_server());
    server.wait_for_connections(0);
}

TEST(ServerTimeouts, LeaveARequestInWorkAlone) {
    Limits limits;
    limits.header_time = limits.body_time = limits.idle_time = limits.write_time = 20ms;
    Desk changes;
    RunningServer server(changes.handler(), with_limits(limits));
    RawClient client(server.port());

    client.send(get("/"));
    changes.wait_for_first();
    std::this_thread::sleep_for(100ms);  // several times each limit
    server->post([&] { changes.waiting.front().send(text("late")); });

    EXPECT_EQ(client.read_answer().body, "late");
    server->post([&] { changes.waiting.clear(); });
    server.settle();
}

TEST(ServerTimeouts, CutAPeerThatDoesNotReadItsAnswer) {
    Limits limits = patient();
    limits.write_time = 40ms;
    const auto large = [](const Request&, Reply reply) {
        reply.send(text(std::string(32 * 1024 * 1024, 'x')));
    };
    RunningServer server(large, with_limits(limits));
    RawClient client(server.port(), 4096);

    client.send(get("/"));
    server.wait_for_connections(1);
    server.wait_for_connections(0);

    EXPECT_LT(client.read_to_end().size(), 32u * 1024 * 1024);
}

TEST(ServerReply, MayComeLater) {
    Desk changes;
    RunningServer server(changes.handler());
    RawClient client(server.port());

    client.send(get("/"));
    changes.wait_for_first();
    server->post([&] {
        EXPECT_TRUE(changes.waiting.front().is_open());
        changes.waiting.front().send(text("later"));
        changes.waiting.clear();
    });

    EXPECT_EQ(client.read_answer().body, "later");
}

TEST(ServerReply, IsAnsweredWhenItIsDroppedLater) {
    Desk changes;
    RunningServer server(changes.handler());
    RawClient client(server.port());

    client.send(get("/"));
    changes.wait_for_first();
    server->post([&] { changes.waiting.clear(); });

    EXPECT_EQ(client.read_answer().status, 500);
}

TEST(ServerReply, MayOutliveItsServer) {
    std::optional<Reply> kept;
    std::promise<std::string_view> arrived;
    {
        RunningServer server([&](Request& request, Reply reply) {
            kept = reply;
            arrived.set_value(request.path);
        });
        RawClient client(server.port());
        client.send(get("/kept"));
        const std::string_view path = arrived.get_future().get();
        client.close();
        EXPECT_EQ(path, "/kept");
    }

    EXPECT_FALSE(kept->is_open());
    kept->send(text("too late"));
    kept.reset();
}

TEST(ServerHangUp, IsToldOnceWhileARequestIsUnanswered) {
    std::promise<void> arrived;
    std::promise<void> gone;
    std::optional<Reply> kept;
    RunningServer server([&](const Request&, Reply reply) {
        reply.on_hang_up([&] { gone.set_value(); });
        kept = std::move(reply);
        arrived.set_value();
    });
    RawClient client(server.port());

    client.send(get("/"));
    arrived.get_future().wait();
    client.close();
    gone.get_future().wait();

    server.wait_for_connections(0);
    EXPECT_FALSE(kept->is_open());
    server->post([&] { kept->send(text("dropped")); });
    server.settle();
}

TEST(ServerHangUp, MayBeAskedForAfterTheHandlerReturned) {
    Desk changes;
    std::promise<void> gone;
    RunningServer server(changes.handler());
    RawClient client(server.port());

    client.send(get("/"));
    changes.wait_for_first();
    server->post([&] { changes.waiting.front().on_hang_up([&] { gone.set_value(); }); });
    server.settle();
    client.close();

    gone.get_future().wait();
}

TEST(ServerHangUp, IsNotToldForAnAnsweredRequestOrAPipelinedOne) {
    Desk changes;
    std::atomic<int> told = 0;
    RunningServer server([&](Request& request, Reply reply) {
        reply.on_hang_up([&] { ++told; });
        changes.handler()(request, reply);
    });
    RawClient client(server.port());

    client.send(get("/"));
    changes.wait_for_first();
    client.send(get("/"));
    const auto answer_one = [&] {
        server->post([&] {
            changes.waiting.front().send(text("here"));
            changes.waiting.pop_front();
        });
    };
    answer_one();
    EXPECT_EQ(client.read_answer().body, "here");
    while (changes.arrived < 2) server.settle();
    answer_one();

    EXPECT_EQ(client.read_answer().body, "here");
    client.close();
    server.wait_for_connections(0);
    EXPECT_EQ(told, 0);
}

TEST(ServerLimits, RefuseConnectionsOverTheTotal) {
    Limits limits = patient();
    limits.connections = 2;
    RunningServer server(echo, with_limits(limits));
    {
        RawClient first(server.port());
        RawClient second(server.port());
        server.wait_for_connections(2);
        RawClient third(server.port());
        third.send(get("/"));
        const Answer refusal = third.read_answer();
        EXPECT_EQ(refusal.status, 503);
        EXPECT_EQ(refusal.header("Retry-After"), "1");
        EXPECT_TRUE(third.is_closed_by_server());
        second.send(get("/"));
        EXPECT_EQ(second.read_answer().status, 200);
    }
    server.wait_for_connections(0);

    RawClient again(server.port());
    again.send(get("/"));
    EXPECT_EQ(again.read_answer().status, 200);
}

// An address of this machine other than the loopback ones, if it has any.
std::optional<in_addr> own_address() {
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) return std::nullopt;
    std::optional<in_addr> found;
    for (const ifaddrs* each = all; each; each = each->ifa_next) {
        if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET) continue;
        const in_addr address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
        if ((ntohl(address.s_addr) >> 24) != 127) found = address;
    }
    ::freeifaddrs(all);
    return found;
}

TEST(ServerLimits, RefuseTooManyConnectionsOfOneAddressExceptLoopback) {
    const std::optional<in_addr> address = own_address();
    if (!address) GTEST_SKIP() << "this machine has no address other than loopback";
    ServerOptions options = with_limits(patient());
    options.host = "0.0.0.0";
    options.limits.connections_per_address = 1;
    RunningServer server(echo, options);
    const auto status = [](RawClient& client) {
        client.send(get("/"));
        return client.read_answer().status;
    };

    RawClient local_1(server.port());
    RawClient local_2(server.port());
    EXPECT_EQ(status(local_1), 200);
    EXPECT_EQ(status(local_2), 200);
    {
        RawClient first(server.port(), 0, *address);
        EXPECT_EQ(status(first), 200);
        RawClient second(server.port(), 0, *address);
        EXPECT_EQ(status(second), 503);
    }
    server.wait_for_connections(2);
    RawClient third(server.port(), 0, *address);
    EXPECT_EQ(status(third), 200);
}

TEST(ServerLimits, SurviveALackOfDescriptors) {
    RunningServer server;
    RawClient client(server.port());
    client.send(get("/"));
    EXPECT_EQ(client.read_answer().status, 200);
    RawClient waiting_socket(server.port());  // takes its descriptor before they run out
    waiting_socket.send(get("/a"));
    EXPECT_EQ(waiting_socket.read_answer().status, 200);
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    const int probe = ::socket(AF_INET, SOCK_STREAM, 0);

    rlimit tight = before;
    tight.rlim_cur = static_cast<rlim_t>(probe) + 1;
    ::close(probe);
    ::setrlimit(RLIMIT_NOFILE, &tight);
    RawClient late(server.port());  // takes the last one, so that the server cannot accept it
    late.send(get("/b"));
    client.send(get("/"));
    EXPECT_EQ(client.read_answer().status, 200);
    ::setrlimit(RLIMIT_NOFILE, &before);

    EXPECT_EQ(late.read_answer().status, 200);
}

TEST(ServerListening, NamesTheAddressItCannotHave) {
    ServerOptions options;
    options.host = "no such host";
    EXPECT_THROW(Server(options, echo, {}, {}), std::runtime_error);

    RunningServer server;
    options.host = "127.0.0.1";
    options.port = server.port();
    try {
        Server second(options, echo, {}, {});
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find(std::to_string(options.port)), std::string::npos);
    }
}

TEST(ServerListening, TakesNamesAndLiterals) {
    for (const char* host : {"localhost", "127.0.0.1", "0.0.0.0", "::1", "[::1]", "::"}) {
        ServerOptions options;
        options.host = host;
        EXPECT_NO_THROW(Server(options, echo, {}, {})) << host;
    }
}

}  // namespace server_waiting_test
}  // namespace sluice::http
