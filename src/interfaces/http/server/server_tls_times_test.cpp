// TLS and time: that of a peer which sends bit by bit, and that of all others while one sends a
// lot.

#include <gtest/gtest.h>

#include "interfaces/http/server/server.hpp"
#include "support/server_tls_fixture.hpp"
#include "support/tls_client.hpp"
#include "tests/support/server_test_support.hpp"

namespace sluice::http {
namespace server_tls_times_test {

using namespace testing_support;

TEST_F(ServerTls, CountsTheBytesOfARecordThatIsNotWholeYet) {
    Limits limits = patient();
    limits.body_time = 600ms;
    RunningServer server(echo, options(limits));
    TlsClient client(server.port());
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n");

    std::string record = client.seal(std::string(10'000, 'x'));
    for (int i = 0; i < 5; ++i) {  // 2,000 bytes in each second, of one record
        client.send_raw(record.substr(0, 500));
        record.erase(0, 500);
        std::this_thread::sleep_for(250ms);
    }
    client.send_raw(record);

    EXPECT_EQ(client.receive_answer(), "POST / " + std::string(10'000, 'x'));
}

TEST_F(ServerTls, TimesAHeadThatBeginsTogetherWithTheEndOfTheHandshake) {
    Limits limits = patient();
    limits.header_time = 1500ms;  // the cork takes 200 ms of it
    RunningServer server(echo, options(limits));
    TlsClient client(server.port(), {.is_corked = true});
    ASSERT_TRUE(client.is_connected());

    client.send("GET / HTTP/1.1\r\nHost:");
    client.uncork();

    EXPECT_NE(client.receive_all().find("408"), std::string::npos);
}

// Asked without a pause, a server that would not let others have a turn would answer all of the
// requests before it does what was posted while it answered the first one.
class Flood {
  public:
    static constexpr int requests = 1000;
    static constexpr int client_buffer_bytes = 400'000;  // no answer waits for its reader

    Server::Handler handler() {
        return [this](Request& request, Reply reply) {
            reply.send(text("here"));
            if (request.verb != Verb::get || ++handled_ > 1) return;
            server_->post([this] { before_others_.set_value(handled_); });
        };
    }

    // All of it waits for the server before the server reads any of it.
    template <typename Client>
    void send(RunningServer& server, Client& client, const std::string& first,
              const std::string& target) {
        server_ = server.operator->();
        std::promise<void> is_busy;
        server->post([this, &is_busy] {
            is_busy.set_value();
            is_sent_.get_future().wait();
        });
        is_busy.get_future().wait();
        std::string bytes = first;
        for (int i = 0; i < requests; ++i) bytes += get(target);
        client.send(bytes);
        is_sent_.set_value();
    }

    int handled_before_others() { return before_others_.get_future().get(); }

  private:
    Server* server_ = nullptr;
    int handled_ = 0;
    std::promise<void> is_sent_;
    std::promise<int> before_others_;
};

TEST_F(ServerTls, LetsOthersHaveATurnWhileAPeerSendsWithoutAPause) {
    Flood flood;
    RunningServer server(flood.handler(), options());
    TlsClient client(server.port(), {.receive_buffer_bytes = Flood::client_buffer_bytes});
    flood.send(server, client, "", '/' + std::string(200, 'x'));

    EXPECT_LT(flood.handled_before_others(), Flood::requests / 2);
    for (int i = 0; i < Flood::requests; ++i) ASSERT_TRUE(client.receive_answer()) << i;
}

TEST(ServerTurns, AreSharedWhenALargeBufferIsFullOfRequests) {
    Flood flood;
    RunningServer server(flood.handler(), with_limits(patient()));
    RawClient client(server.port(), Flood::client_buffer_bytes);
    flood.send(server, client, post("/large", std::string(66'000, 'x')), "/");

    EXPECT_LT(flood.handled_before_others(), Flood::requests / 2);
    for (int i = 0; i <= Flood::requests; ++i) ASSERT_EQ(client.read_answer().status, 200) << i;
}

}  // namespace server_tls_times_test
}  // namespace sluice::http
