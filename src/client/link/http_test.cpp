#include "client/link/http.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "client/link/endpoint.hpp"
#include "support/scripted_server.hpp"

namespace sluice::client {
namespace http_test {

HttpRequest get(const std::string& url) {
    HttpRequest request;
    request.url = url;
    return request;
}

// The error that a request ends with.
Error error_of(HttpConnection& connection, const HttpRequest& request) {
    try {
        connection.send(request);
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << request.url << " was answered";
    return {ErrorKind::usage, 0, "", ""};
}

Error error_of(const HttpRequest& request) {
    HttpConnection connection;
    return error_of(connection, request);
}

Millis since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - start);
}

TEST(Http, BringsStatusHeadersAndBody) {
    ScriptedServer server([](const std::string&) {
        return answer_text("418 Teapot", "X-One: 1\r\nx-two:  2 \r\n", "short");
    });
    HttpConnection connection;

    const HttpResponse response = connection.send(get(server.url("/a/../b?c=d")));

    EXPECT_EQ(response.status, 418);
    EXPECT_EQ(response.header("x-one"), "1");
    EXPECT_EQ(response.header("X-TWO"), "2");
    EXPECT_EQ(response.header("X-Three"), "");
    EXPECT_EQ(response.body, "short");
    EXPECT_TRUE(server.requests()[0].starts_with("GET /a/../b?c=d HTTP/1.1\r\n"));
}

TEST(Http, SendsMethodHeadersAndBodyAsTheyAre) {
    ScriptedServer server([](const std::string&) { return answer_text("200 OK", "", ""); });
    HttpConnection connection;
    HttpRequest request = get(server.url("/"));
    request.headers = {{"X-Empty", ""}, {"Content-Type", "text/plain"}};
    request.body = std::string("a\0b", 3);

    for (const char* method : {"POST", "PUT", "DELETE"}) {
        request.method = method;
        connection.send(request);

        const std::string sent = server.requests().back();
        EXPECT_TRUE(sent.starts_with(std::string(method) + " / HTTP/1.1\r\n")) << sent;
        EXPECT_TRUE(sent.ends_with(std::string("\r\n\r\na\0b", 7))) << sent;
        EXPECT_NE(sent.find("X-Empty:\r\n"), std::string::npos) << sent;
        EXPECT_NE(sent.find("Content-Type: text/plain\r\n"), std::string::npos) << sent;
        EXPECT_EQ(sent.find("Expect"), std::string::npos) << sent;
    }
    EXPECT_EQ(server.connections(), 1);
    request.at_most_once = true;
    connection.send(request);
    EXPECT_EQ(server.connections(), 2);
}

TEST(Http, RefusesHeadersThatWouldAddOthers) {
    HttpRequest request = get("http://127.0.0.1:1/");
    request.headers = {{"X-A", "1\r\nX-B: 2"}};

    EXPECT_EQ(error_of(request).kind(), ErrorKind::usage);
}

TEST(Http, RefusesWhatIsNoAddress) {
    for (const char* url : {"", "localhost:7070", "file:///etc/passwd", "ftp://host/", "http://",
                            "http://a b/", "http://host:99999/", "://x"}) {
        const Error error = error_of(get(url));
        EXPECT_EQ(error.kind(), ErrorKind::usage) << url;
        EXPECT_EQ(error.code(), http_error::bad_url) << url << error.what();
    }
}

TEST(Http, KeepsAPasswordInAnAddressForItself) {
    for (const char* url :
         {"ftp://me:s3cret@host/", "me:s3cret@host", "http://me:s3cret@host:99999/",
          "http://me:s3cr@et/s3cret@ho st/", "http://me:s3cret@127.0.0.1:1/"}) {
        const std::string message = error_of(get(url)).what();
        EXPECT_EQ(message.find("s3cr"), std::string::npos) << message;
    }
}

TEST(Http, SaysWhyThereIsNoAnswer) {
    ScriptedServer silent([](const std::string&) { return ""; });
    ScriptedServer confused(
        [](const std::string&) { return "SSH-2.0-x\r\nConnection: close\r\n"; });
    ScriptedServer broken([](const std::string&) {
        return "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhalf";
    });
    HttpRequest slow = get(silent.url());
    slow.timeout = Millis(50);
    HttpRequest idle = get(silent.url());
    idle.idle_timeout = Millis(50);

    EXPECT_EQ(error_of(get("http://127.0.0.1:1/")).code(), http_error::no_connection);
    EXPECT_EQ(error_of(slow).code(), http_error::timed_out);
    EXPECT_EQ(error_of(idle).code(), http_error::timed_out);
    EXPECT_EQ(error_of(get(confused.url())).code(), http_error::no_answer);
    EXPECT_EQ(error_of(get(broken.url())).code(), http_error::no_answer);
    EXPECT_TRUE(error_of(get(broken.url())).may_be_repeated());
}

TEST(Http, RefusesAnAnswerThatIsTooLarge) {
    ScriptedServer server(
        [](const std::string&) { return answer_text("200 OK", "", std::string(1000, 'x')); });
    HttpRequest request = get(server.url());
    request.body_max = 999;

    EXPECT_EQ(error_of(request).code(), http_error::too_large);
    request.body_max = 1000;
    EXPECT_EQ(HttpConnection().send(request).body.size(), 1000u);
}

TEST(Http, HandsOverTheBodyAsItComes) {
    ScriptedServer server([](const std::string& request) {
        const bool fails = request.starts_with("GET /fails");
        return answer_text(fails ? "500 No" : "200 OK", "", "abc");
    });
    HttpConnection connection;
    std::string seen;
    HttpRequest request = get(server.url("/"));
    request.on_body = [&](std::string_view bytes) {
        seen += bytes;
        return seen.size() < 6;
    };

    EXPECT_EQ(connection.send(request).body, "");
    EXPECT_EQ(seen, "abc");
    EXPECT_EQ(connection.send(request).status, 200);  // ended by on_body
    request.url = server.url("/fails");
    EXPECT_EQ(connection.send(request).body, "abc");
    EXPECT_EQ(seen, "abcabc");

    request = get(server.url("/"));
    request.on_body = [](std::string_view) -> bool { throw std::length_error("mine"); };
    EXPECT_THROW(connection.send(request), std::length_error);
}

TEST(Http, CanBeInterruptedAtOnce) {
    ScriptedServer silent([](const std::string&) { return ""; });
    HttpConnection connection;
    const auto start = std::chrono::steady_clock::now();
    std::thread other([&] {
        while (silent.requests().empty()) std::this_thread::sleep_for(Millis(1));
        connection.interrupt();
    });

    EXPECT_EQ(error_of(connection, get(silent.url())).code(), http_error::interrupted);
    EXPECT_LT(since(start), Millis(1000));
    other.join();
    EXPECT_EQ(error_of(connection, get(silent.url())).code(), http_error::interrupted);
}

TEST(Http, EndsWhenItNeedNotGoOn) {
    ScriptedServer silent([](const std::string&) { return ""; });
    HttpRequest request = get(silent.url());
    const auto start = std::chrono::steady_clock::now();
    request.keep_on = [&] { return since(start) < Millis(50); };

    EXPECT_EQ(error_of(request).code(), http_error::interrupted);
    EXPECT_LT(since(start), Millis(1000));
}

TEST(Http, FollowsRedirectsOnlyAsFarAsAllowed) {
    ScriptedServer server([](const std::string& request) {
        if (request.starts_with("GET /end")) return answer_text("200 OK", "", "end");
        const bool first = request.starts_with("GET /first");
        return answer_text("302 Found", first ? "Location: /second\r\n" : "Location: /end\r\n",
                           "elsewhere");
    });
    HttpRequest request = get(server.url("/first"));

    EXPECT_EQ(HttpConnection().send(request).status, 302);
    request.redirects_max = 2;
    EXPECT_EQ(HttpConnection().send(request).body, "end");
    request.redirects_max = 1;
    EXPECT_EQ(error_of(request).kind(), ErrorKind::unreachable);
}

TEST(Http, DoesNotLeaveHttpByARedirect) {
    ScriptedServer server([](const std::string&) {
        return answer_text("302 Found", "Location: file:///etc/passwd\r\n", "");
    });
    HttpRequest request = get(server.url("/"));
    request.redirects_max = 5;

    EXPECT_EQ(error_of(request).kind(), ErrorKind::unreachable);
}

TEST(Http, StaysAwayFromAddressesThatAreNotPublic) {
    ScriptedServer server([](const std::string&) { return answer_text("200 OK", "", "secret"); });
    const std::string port = std::to_string(server.port());

    for (const char* host : {"127.0.0.1", "localhost", "[::1]", "0.0.0.0", "[::ffff:127.0.0.1]",
                             "2130706433", "0x7f.1", "127.0.0.2"}) {
        HttpRequest request = get("http://" + std::string(host) + ":" + port + "/");
        request.public_addresses_only = true;
        const Error error = error_of(request);
        EXPECT_EQ(error.code(), http_error::private_address) << host << ": " << error.what();
        EXPECT_FALSE(error.may_be_repeated()) << host;
    }
    EXPECT_EQ(server.connections(), 0);
}

TEST(Http, StaysAwayFromThemAlsoAfterARedirect) {
    std::string target;
    ScriptedServer inner([](const std::string&) { return answer_text("200 OK", "", "secret"); });
    ScriptedServer outer([&](const std::string&) {
        return answer_text("307 Elsewhere", "Location: " + target + "\r\n", "");
    });
    HttpRequest request = get(outer.url("/"));
    request.redirects_max = 5;
    request.public_addresses_only = true;
    request.allowed_addresses = {"127.0.0.1"};
    HttpConnection connection;

    target = "http://127.0.0.2:" + std::to_string(inner.port()) + "/";
    EXPECT_EQ(error_of(connection, request).code(), http_error::private_address);
    EXPECT_EQ(inner.connections(), 0);
    target = inner.url("/");
    EXPECT_EQ(connection.send(request).body, "secret");
}

TEST(Http, DoesNotReuseWhatWasConnectedWithoutTheCheck) {
    ScriptedServer server([](const std::string&) { return answer_text("200 OK", "", "secret"); });
    HttpConnection connection;
    HttpRequest request = get(server.url("/"));

    connection.send(request);
    request.public_addresses_only = true;
    EXPECT_EQ(error_of(connection, request).kind(), ErrorKind::usage);
    EXPECT_EQ(server.requests().size(), 1u);
}

TEST(Endpoint, IsShownWithoutSecrets) {
    EXPECT_EQ(parse_endpoint("https://ada:secret@example.org/path?token=x").shown,
              "https://example.org:443");
    EXPECT_EQ(parse_endpoint("http://[::1]:7070/").shown, "http://[::1]:7070");
    EXPECT_TRUE(parse_endpoint("http://[::1]:7070/").is_this_machine());
    EXPECT_FALSE(parse_endpoint("http://127.example.org").is_this_machine());
}

}  // namespace http_test
}  // namespace sluice::client
