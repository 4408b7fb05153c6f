// Streamed answers, and how the server stops.

#include <gtest/gtest.h>

#include <csignal>
#include <future>
#include <memory>

#include "interfaces/http/server/server.hpp"
#include "tests/support/server_test_support.hpp"

namespace sluice::http {
namespace server_stream_test {

using namespace testing_support;

// A stream that the test fills. Used on the I/O thread.
struct Tap : BodyStream {
    struct Source {
        std::string pending;
        bool ended = false;
        bool destroyed = false;
        std::function<void()> ready;
    };

    explicit Tap(std::shared_ptr<Source> from) : source(std::move(from)) {}
    ~Tap() override { source->destroyed = true; }

    void on_ready(std::function<void()> ready) override { source->ready = std::move(ready); }

    bool pull(std::string& out) override {
        out += source->pending;
        source->pending.clear();
        return !source->ended;
    }

    std::shared_ptr<Source> source;  // shared with the test
};

Server::Handler streaming(const std::shared_ptr<Tap::Source>& source) {
    return [source](const Request&, Reply reply) {
        Response head;
        head.content_type = "text/event-stream";
        reply.stream(std::move(head), std::make_unique<Tap>(source));
    };
}

void feed(RunningServer& server, const std::shared_ptr<Tap::Source>& source, std::string bytes,
          bool ended = false) {
    server->post([source, bytes = std::move(bytes), ended] {
        source->pending += bytes;
        source->ended = ended;
        source->ready();
    });
}

TEST(ServerStream, SendsWhatComesAndCloses) {
    const auto source = std::make_shared<Tap::Source>();
    RunningServer server(streaming(source));
    RawClient client(server.port());

    client.send(get("/events"));
    const Answer head = client.read_answer();
    EXPECT_EQ(head.header("Content-Type"), "text/event-stream");
    EXPECT_EQ(head.header("Connection"), "close");
    EXPECT_EQ(head.header("Content-Length"), "");
    feed(server, source, "data: 1\n\n");
    EXPECT_TRUE(client.read_until("data: 1\n\n"));
    feed(server, source, "data: 2\n\n");
    EXPECT_TRUE(client.read_until("data: 2\n\n"));
    feed(server, source, "data: 3\n\n", true);

    EXPECT_EQ(client.read_to_end(), "data: 1\n\ndata: 2\n\ndata: 3\n\n");
}

TEST(ServerStream, EndsWhenThePeerLeaves) {
    const auto source = std::make_shared<Tap::Source>();
    RunningServer server(streaming(source));
    RawClient client(server.port());

    client.send(get("/events"));
    client.read_answer();
    client.send("ignored");
    client.close();

    server.wait_for_connections(0);
    EXPECT_TRUE(source->destroyed);
}

TEST(ServerStream, PullsNothingWhileTheReaderIsBehindAndLosesNothing) {
    const auto source = std::make_shared<Tap::Source>();
    RunningServer server(streaming(source), with_limits(patient()));
    RawClient client(server.port(), 4096);
    constexpr std::size_t piece = 16 * 1024;

    client.send(get("/events"));
    client.read_answer();
    for (int i = 0; i < 200; ++i) {
        feed(server, source, std::string(piece, 'x'), i == 199);
        server.settle();
    }

    std::promise<std::size_t> held_back;
    server->post([&] { held_back.set_value(source->pending.size()); });
    EXPECT_GT(held_back.get_future().get(), 100 * piece);
    EXPECT_EQ(client.read_to_end().size(), 200 * piece);
}

TEST(ServerStream, CutsAReaderThatStopsReading) {
    Limits limits = patient();
    limits.write_time = 40ms;
    const auto source = std::make_shared<Tap::Source>();
    source->pending = std::string(8 * 1024 * 1024, 'x');
    RunningServer server(streaming(source), with_limits(limits));
    RawClient client(server.port(), 4096);

    client.send(get("/events"));
    client.read_answer();

    server.wait_for_connections(0);
    EXPECT_TRUE(source->destroyed);
}

TEST(ServerStream, EndsAfterItsLife) {
    Limits limits = patient();
    limits.stream_life = 40ms;
    const auto source = std::make_shared<Tap::Source>();
    RunningServer server(streaming(source), with_limits(limits));
    RawClient client(server.port());

    client.send(get("/events"));

    EXPECT_EQ(client.read_answer().status, 200);
    EXPECT_TRUE(client.is_closed_by_server());
}

TEST(ServerStream, RefusesMoreThanItsLimit) {
    Limits limits = patient();
    limits.streams = 1;
    const auto source = std::make_shared<Tap::Source>();
    RunningServer server(
        [&](Request& request, Reply reply) {
            const auto own = request.path == "/1" ? source : std::make_shared<Tap::Source>();
            streaming(own)(request, std::move(reply));
        },
        with_limits(limits));
    RawClient first(server.port());
    first.send(get("/1"));
    EXPECT_EQ(first.read_answer().status, 200);

    RawClient second(server.port());
    second.send(get("/2"));
    const Answer refusal = second.read_answer();
    feed(server, source, "", true);
    first.read_to_end();
    first.close();
    server.wait_for_connections(1);
    second.send(get("/2"));

    EXPECT_EQ(refusal.status, 503);
    EXPECT_NE(refusal.header("Retry-After"), "");
    EXPECT_EQ(second.read_answer().status, 200);
}

TEST(ServerStop, AnswersWhatIsInWorkAndClosesTheRest) {
    Desk changes;
    RunningServer server(changes.handler());
    RawClient idle(server.port());
    RawClient half(server.port());
    RawClient busy(server.port());
    half.send("GET / HTTP/1.1\r\n");
    busy.send(get("/") + get("/never"));
    changes.wait_for_first();
    server.wait_for_connections(3);

    server->stop(60s);
    EXPECT_TRUE(idle.is_closed_by_server());
    EXPECT_EQ(half.read_answer().status, 503);
    server->stop(60s);
    server->post([&] {
        changes.waiting.front().send(text("done"));
        changes.waiting.clear();
    });
    const Answer answer = busy.read_answer();

    EXPECT_EQ(answer.body, "done");
    EXPECT_EQ(answer.header("Connection"), "close");
    EXPECT_TRUE(busy.is_closed_by_server());
    busy.close();
    half.close();
    server.join();
    EXPECT_EQ(changes.arrived, 1);
    EXPECT_FALSE(RawClient(server.port()).is_connected());
}

TEST(ServerStop, CutsWhatIsLeftWhenPatienceEnds) {
    Desk changes;
    std::promise<void> gone;
    RunningServer server([&](Request& request, Reply reply) {
        reply.on_hang_up([&] { gone.set_value(); });
        changes.handler()(request, std::move(reply));
    });
    RawClient client(server.port());
    client.send(get("/"));
    changes.wait_for_first();

    server->stop(20ms);
    server.join();

    gone.get_future().wait();
    EXPECT_EQ(client.read_answer().status, 0);
    EXPECT_FALSE(changes.waiting.front().is_open());
}

TEST(ServerStop, EndsStreamsAtOnce) {
    const auto source = std::make_shared<Tap::Source>();
    RunningServer server(streaming(source));
    RawClient client(server.port());
    client.send(get("/events"));
    client.read_answer();

    server->stop(60s);

    EXPECT_TRUE(client.is_closed_by_server());
    client.close();
    server.join();
    EXPECT_TRUE(source->destroyed);
}

TEST(ServerStop, MayBeCausedByASignal) {
    Server server({}, echo, {}, {});
    server.on_signals({SIGUSR1}, [&](int) { server.stop(0ms); });
    std::thread thread([&] { server.run(); });

    std::raise(SIGUSR1);

    thread.join();
}

}  // namespace server_stream_test
}  // namespace sluice::http
