// The same server behind TLS: the protocols that it speaks and refuses; nothing else is different.

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <optional>

#include "interfaces/http/server/server.hpp"
#include "support/server_tls_fixture.hpp"
#include "support/test_certificate.hpp"
#include "support/tls_client.hpp"
#include "tests/support/server_test_support.hpp"

namespace sluice::http {
namespace server_tls_test {

using namespace testing_support;

TEST_F(ServerTls, AnswersRequestsOnOneConnection) {
    RunningServer server(echo, options());
    TlsClient client(server.port());
    ASSERT_TRUE(client.is_connected());

    for (int i = 0; i < 3; ++i) {
        client.send(post("/a", "body"));
        EXPECT_EQ(client.receive_answer(), "POST /a body");
    }
}

TEST_F(ServerTls, TakesARequestByteByByteAndPipelinedOnesInOrder) {
    RunningServer server(echo, options());
    TlsClient client(server.port());

    for (const char byte : post("/slow", "abc")) client.send({&byte, 1});
    EXPECT_EQ(client.receive_answer(), "POST /slow abc");

    client.send(get("/1") + get("/2") + get("/3"));
    EXPECT_EQ(client.receive_answer(), "GET /1 ");
    EXPECT_EQ(client.receive_answer(), "GET /2 ");
    EXPECT_EQ(client.receive_answer(), "GET /3 ");
}

TEST_F(ServerTls, CarriesLargeBodiesBothWays) {
    RunningServer server(echo, options());
    TlsClient client(server.port(), {.receive_buffer_bytes = 4096});
    const std::string body(1024 * 1024, 'x');

    client.send(post("/big", body));

    EXPECT_EQ(client.receive_answer(), "POST /big " + body);
    client.send(get("/next"));
    EXPECT_EQ(client.receive_answer(), "GET /next ");
}

TEST_F(ServerTls, TakesChunkedBodiesHoweverRecordsCutThem) {
    RunningServer server(echo, options());
    TlsClient client(server.port());
    const std::string head = "POST /c HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n";

    for (const char byte : head + "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n") client.send({&byte, 1});
    EXPECT_EQ(client.receive_answer(), "POST /c abcde");

    const std::string part(0x11000, 'x');  // more than a record
    client.send(head + "11000\r\n" + part + "\r\n11000\r\n" + part + "\r\n0\r\n\r\n" +
                get("/next"));
    EXPECT_EQ(client.receive_answer(), "POST /c " + part + part);
    EXPECT_EQ(client.receive_answer(), "GET /next ");

    client.send(head + "1\r\na\r\n0\r\nX-Trailer: 1\r\n\r\n" + get("/hidden"));
    const std::string refused = client.receive_all();
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 400 ")) << refused;
    EXPECT_EQ(refused.find("/hidden"), std::string::npos) << "what follows is not a request";
    EXPECT_TRUE(client.was_told_goodbye());
}

TEST_F(ServerTls, SaysGoodbyeSoThatNobodyCanCutAnAnswerUnseen) {
    RunningServer server(echo, options());
    TlsClient client(server.port());

    client.send(get("/", "Connection: close\r\n"));

    EXPECT_NE(client.receive_all().find("GET / "), std::string::npos);
    EXPECT_TRUE(client.was_told_goodbye());
}

TEST_F(ServerTls, SpeaksVersion12And13AndNothingOlder) {
    RunningServer server(echo, options());

    EXPECT_EQ(TlsClient(server.port()).version(), "TLSv1.3");
    EXPECT_EQ(TlsClient(server.port(), {.version_max = TLS1_2_VERSION}).version(), "TLSv1.2");
    for (const int old : {TLS1_1_VERSION, TLS1_VERSION}) {
        TlsClient client(server.port(), {.version_min = old, .version_max = old});
        EXPECT_FALSE(client.is_connected()) << old;
    }
}

TEST_F(ServerTls, RefusesWeakCiphers) {
    RunningServer server(echo, options());

    for (const char* cipher : {"ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "AES128-SHA",
                               "AES256-GCM-SHA384", "NULL-SHA256:@SECLEVEL=0"}) {
        TlsClient client(server.port(), {.version_max = TLS1_2_VERSION, .ciphers = cipher});
        EXPECT_FALSE(client.is_connected()) << cipher;
    }
    TlsClient client(server.port(),
                     {.version_max = TLS1_2_VERSION, .ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256"});
    EXPECT_TRUE(client.is_connected());
}

TEST_F(ServerTls, ChoosesHttp11AndRefusesPeersThatSpeakOthersOnly) {
    RunningServer server(echo, options());

    TlsClient both(server.port(), {.protocols = std::string("\x02h2\x08http/1.1")});
    EXPECT_EQ(both.protocol(), "http/1.1");
    TlsClient other(server.port(), {.protocols = std::string("\x02h2")});
    EXPECT_FALSE(other.is_connected());
    TlsClient silent(server.port());
    EXPECT_EQ(silent.protocol(), "");
    EXPECT_TRUE(silent.is_connected());
}

TEST_F(ServerTls, NeitherRenegotiatesNorGivesTickets) {
    RunningServer server(echo, options());
    TlsClient client(server.port(), {.version_max = TLS1_2_VERSION});
    client.send(get("/"));
    ASSERT_TRUE(client.receive_answer());

    EXPECT_FALSE(client.has_ticket());
    EXPECT_FALSE(client.start_renegotiation());
    TlsClient newer(server.port());
    newer.send(get("/"));
    ASSERT_TRUE(newer.receive_answer());
    EXPECT_FALSE(newer.has_ticket());
}

TEST_F(ServerTls, TellsWhoSpeaksPlainHttp) {
    RunningServer server(echo, options());
    for (const std::string& request : {get("/"), post("/", "body")}) {
        RawClient client(server.port());
        client.send(request);

        const Answer answer = client.read_answer();
        EXPECT_EQ(answer.status, 400);
        EXPECT_NE(answer.body.find("https_required"), std::string::npos);
        EXPECT_TRUE(client.is_closed_by_server());
    }
}

TEST_F(ServerTls, ClosesOnGarbageBeforeAndAfterTheHandshake) {
    std::atomic<int> handled = 0;
    RunningServer server(
        [&](Request& request, Reply reply) {
            ++handled;
            echo(request, std::move(reply));
        },
        options());
    for (const std::string& garbage :
         {std::string("\x16\x03\x01\xff\xff"), std::string(600, '\0'), std::string(600, 'A'),
          std::string("\x80\x2e\x01\x03\x01"), std::string("\r\n\r\n\r\n")}) {
        RawClient client(server.port());
        client.send(garbage + std::string(20'000, '\x42'));
        client.finish_sending();
        client.read_to_end();
    }
    TlsClient client(server.port());
    client.send_raw("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
    EXPECT_EQ(client.receive_all(), "");

    server.wait_for_connections(0);
    EXPECT_EQ(handled, 0);
}

TEST_F(ServerTls, CutsASlowHandshake) {
    Limits limits = patient();
    limits.header_time = 60ms;
    RunningServer server(echo, options(limits));
    RawClient silent(server.port());
    RawClient slow(server.port());
    slow.send("\x16\x03\x01");

    EXPECT_TRUE(silent.is_closed_by_server());
    EXPECT_TRUE(slow.is_closed_by_server());
    server.wait_for_connections(0);
}

TEST_F(ServerTls, KeepsTheTimesOfPlainConnections) {
    Limits limits = patient();
    limits.header_time = limits.body_time = limits.idle_time = 60ms;
    RunningServer server(echo, options(limits));
    TlsClient head(server.port());
    TlsClient body(server.port());
    TlsClient idle(server.port());
    TlsClient record(server.port());

    head.send("GET / HTTP/1.1\r\nHost:");
    body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
    record.send_raw(std::string("\x17\x03\x03\x20\x00only the beginning", 23));

    EXPECT_NE(head.receive_all().find("408"), std::string::npos);
    EXPECT_NE(body.receive_all().find("408"), std::string::npos);
    EXPECT_EQ(idle.receive_all(), "");
    EXPECT_NE(record.receive_all().find("408"), std::string::npos);
    server.wait_for_connections(0);
}

TEST_F(ServerTls, CutsAPeerThatDoesNotReadItsAnswer) {
    Limits limits = patient();
    limits.write_time = 60ms;
    RunningServer server(
        [](const Request&, Reply reply) { reply.send(text(std::string(20'000'000, 'x'))); },
        options(limits));
    TlsClient client(server.port(), {.receive_buffer_bytes = 4096});

    client.send(get("/"));

    server.wait_for_connections(0);
}

TEST_F(ServerTls, NoticesThatAPeerLeftWhileItsRequestIsInWork) {
    enum class Leaving { goodbye, silence, goodbye_with_the_request };
    for (const Leaving way :
         {Leaving::goodbye, Leaving::silence, Leaving::goodbye_with_the_request}) {
        std::promise<void> gone;
        std::promise<void> arrived;
        std::optional<Reply> kept;
        RunningServer server(
            [&](const Request&, Reply reply) {
                reply.on_hang_up([&] { gone.set_value(); });
                kept = std::move(reply);
                arrived.set_value();
            },
            options());
        TlsClient client(server.port());

        client.send(get("/"));
        if (way != Leaving::goodbye_with_the_request) arrived.get_future().wait();
        if (way == Leaving::silence) {
            client.close();
        } else {
            client.say_goodbye();
        }

        EXPECT_EQ(gone.get_future().wait_for(10s), std::future_status::ready);
        server->post([&] { kept.reset(); });
        server.settle();
        server.wait_for_connections(0);
    }
}

TEST_F(ServerTls, AnswersTheNextRequestThatCameWhileOneWasInWork) {
    Desk changes;
    RunningServer server(changes.handler(), options());
    TlsClient client(server.port());
    client.send(get("/first"));
    changes.wait_for_first();
    server->post(
        [&] { changes.waiting.front().on_hang_up([] { ADD_FAILURE() << "it is there"; }); });
    client.send(get("/second"));

    server->post([&] { changes.waiting.front().send(text("one")); });
    EXPECT_EQ(client.receive_answer(), "one");
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (changes.arrived < 2 && std::chrono::steady_clock::now() < end) server.settle();
    server->post([&] { changes.waiting.back().send(text("two")); });
    EXPECT_EQ(client.receive_answer(), "two");
    server->post([&] { changes.waiting.clear(); });
    server.settle();
}

TEST_F(ServerTls, RefusesConnectionsOverTheTotalWithoutAHandshake) {
    Limits limits = patient();
    limits.connections = 1;
    RunningServer server(echo, options(limits));
    TlsClient first(server.port());
    ASSERT_TRUE(first.is_connected());

    EXPECT_FALSE(TlsClient(server.port()).is_connected());

    first.send(get("/"));
    EXPECT_TRUE(first.receive_answer());
}

TEST_F(ServerTls, UsesANewCertificateForNewConnections) {
    RunningServer server(echo, options());
    TlsClient old(server.port());
    EXPECT_EQ(old.server_name(), "first");

    make_certificate(folder.path, "server", "second");
    server->post([&] { server->reload_tls(); });
    server.settle();

    EXPECT_EQ(TlsClient(server.port()).server_name(), "second");
    old.send(get("/still"));
    EXPECT_EQ(old.receive_answer(), "GET /still ");
}

TEST_F(ServerTls, KeepsTheOldCertificateWhenTheNewOneIsNotUsable) {
    RunningServer server(echo, options());
    std::ofstream(certificate.key) << "no key";
    std::promise<std::string> reason;
    server->post([&] {
        try {
            server->reload_tls();
            reason.set_value("");
        } catch (const std::runtime_error& error) {
            reason.set_value(error.what());
        }
    });

    EXPECT_NE(reason.get_future().get().find(certificate.key), std::string::npos);
    EXPECT_EQ(TlsClient(server.port()).server_name(), "first");
}

TEST_F(ServerTls, HearsASignalEachTime) {
    Server server(options(), echo, {}, {});
    int heard = 0;
    server.on_each_signal(SIGHUP, [&] {
        if (++heard == 3) return server.stop(0ms);
        ::raise(SIGHUP);
    });
    ::raise(SIGHUP);
    server.run();
    EXPECT_EQ(heard, 3);
}

TEST_F(ServerTls, SaysWhatIsWrongWithItsFiles) {
    const TestCertificate other = make_certificate(folder.path, "other");
    const std::string empty = (folder.path / "empty.pem").string();
    std::ofstream{empty};
    const std::string text = (folder.path / "text.pem").string();
    std::ofstream(text) << "not PEM";
    struct Case {
        std::string certificate;
        std::string key;
        std::string reason;
    };
    const std::string good = certificate.certificate, key = certificate.key;
    const Case cases[] = {
        {good, "", "key is not given"},
        {"", key, "certificate is not given"},
        {"/nowhere.pem", key, "certificate /nowhere.pem cannot be read: No such file"},
        {good, "/nowhere.key", "key /nowhere.key cannot be read: No such file"},
        {empty, key, "cannot be read: it is empty"},
        {text, key, "certificate " + text + " is not usable as PEM"},
        {good, text, "key " + text + " is not usable as PEM"},
        {good, other.key, "key " + other.key + " does not belong to certificate " + good},
        {key, good, "is not usable as PEM"}};
    for (const Case& one : cases) {
        const std::string reason = reason_of_failure({one.certificate, one.key});
        EXPECT_NE(reason.find(one.reason), std::string::npos) << reason << " / " << one.reason;
    }
}

TEST_F(ServerTls, ComplainsAboutDatesThatClientsWillNotAccept) {
    const auto complaint = [&](CertificateDates dates) {
        const TestCertificate made = make_certificate(folder.path, "dated", "dated", dates);
        return TlsIdentity({made.certificate, made.key})
            .complaint(std::chrono::system_clock::now())
            .value_or("none");
    };
    using std::chrono::hours;
    EXPECT_EQ(complaint({}), "none");
    EXPECT_NE(complaint({hours(-48), hours(-24)}).find("has expired at 20"), std::string::npos);
    EXPECT_NE(complaint({hours(24), hours(9600)}).find("is not valid before 20"),
              std::string::npos);
    EXPECT_NE(complaint({hours(-24), hours(48)}).find("expires soon, at 20"), std::string::npos);
}

}  // namespace server_tls_test
}  // namespace sluice::http
