// The engine behind nginx and HAProxy with the configurations of docs/proxy: well-formed requests
// work as without them, and no request gets through that one of the two reads differently.
#include <algorithm>
#include <thread>

#include "e2e/api.hpp"
#include "e2e/bad_requests.hpp"
#include "e2e/proxy.hpp"
#include "sluice/client.hpp"
#include "support/tls_client.hpp"

namespace sluice::e2e {
namespace proxy_test {

class BehindProxy : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        ASSERT_TRUE(Proxy::is_installed(GetParam()))
            << GetParam() << " is not installed; ./dev setup does that";
    }

    void start(ProxyEntry entry) {
        proxy.reset();
        engine = std::make_unique<Engine>("memory:");
        proxy = std::make_unique<Proxy>(GetParam(), engine->port(), entry);
        api = std::make_unique<Api>(engine->port(), "default");
        // HAProxy asks first whether the engine is ready.
        if (entry == ProxyEntry::tls) return;
        ASSERT_TRUE(
            eventually([&] { return Client(proxy->port()).get("/healthz").status == 200; }));
    }
    client::Options options() const {
        client::Options made;
        made.server = "https://127.0.0.1:" + std::to_string(proxy->port());
        made.ca_file = proxy->ca_file();
        made.patience = Millis(5000);
        return made;
    }
    std::size_t jobs_of_type(const std::string& type) {
        std::size_t count = 0;
        std::string cursor;
        do {
            const Json page = api->get("/api/v1/jobs?limit=200&type=" + type + cursor);
            count += list(page, "jobs").size();
            const std::string next = text(page, "next_cursor");
            cursor = next.empty() ? "" : "&cursor=" + next;
        } while (!cursor.empty());
        return count;
    }
    int waiting_claims() {
        const std::string page = api->http.get("/metrics").body;
        const std::string name = "\nsluice_waiting_claims ";
        return std::stoi(page.substr(page.find(name) + name.size()));
    }

    std::unique_ptr<Engine> engine;
    std::unique_ptr<Proxy> proxy;
    std::unique_ptr<Api> api;  // past the proxy
};
INSTANTIATE_TEST_SUITE_P(Program, BehindProxy, testing::Values("nginx", "haproxy"),
                         [](const auto& tested) { return std::string(tested.param); });

// The statuses of all answers to these bytes, without the interim ones. The client goes on
// listening, since proxies take the end of its bytes for its leaving, until nothing more comes for
// a while. On a busy machine an answer may come later than that: a request without one may have
// been accepted all the same.
std::vector<int> statuses(std::uint16_t port, const std::string& bytes) {
    Client client(port);
    client.send(bytes);
    std::vector<int> all;
    while (const auto answer = client.receive(all.empty() ? Millis(150) : Millis(5))) {
        if (answer->status >= 200) all.push_back(answer->status);
    }
    return all;
}

TEST_P(BehindProxy, AJobIsSubmittedFollowedClaimedAndReported) {
    start(ProxyEntry::tls);
    client::Client client(options());
    const client::Job job = client.submit(client::NewJob{.type = "task"});
    std::vector<std::string> seen;
    std::atomic<bool> has_begun = false;
    std::thread follower([&] {
        client::Client other(options());
        other.follow(job.id, 0, [&](const client::Update& update) {
            if (update.status) seen.push_back(update.status->type);
            has_begun = true;
            return true;
        });
    });
    EXPECT_TRUE(eventually([&] { return has_begun.load(); })) << "the stream is held back";

    const Json lease = api->claim_one();
    api->succeed(lease);

    follower.join();
    EXPECT_EQ(seen.back(), "succeeded");
}

TEST_P(BehindProxy, AClaimWaitsAndIsWokenAndOneWhoseClientLeavesTakesNothing) {
    start(ProxyEntry::tls);
    const auto claim =
        request_text("POST", "/api/v1/leases", R"({"worker_id":"w","wait_ms":15000})");
    TlsClient gone(proxy->port());
    gone.send(claim);
    ASSERT_TRUE(eventually([&] { return waiting_claims() == 1; }));
    gone.close();
    ASSERT_TRUE(eventually([&] { return waiting_claims() == 0; })) << "nobody tells the engine";

    TlsClient waiting(proxy->port());
    waiting.send(claim);
    ASSERT_TRUE(eventually([&] { return waiting_claims() == 1; }));
    const std::string id = api->submit_id();

    EXPECT_NE(waiting.receive_answer().value_or("").find(id), std::string::npos);
}

TEST_P(BehindProxy, TheRequestIdGoesThroughAndABadOneDoesNot) {
    start(ProxyEntry::plain);
    Client client(proxy->port());
    EXPECT_EQ(client.get("/healthz", {{"X-Request-Id", "my-id.1"}}).header("X-Request-Id"),
              "my-id.1");
    const std::string made =
        client.get("/healthz", {{"X-Request-Id", "bad id!"}}).header("X-Request-Id");
    EXPECT_FALSE(made.empty());
    EXPECT_NE(made, "bad id!");
}

TEST_P(BehindProxy, LargeBodiesGoThroughAndTooLargeOnesDoNot) {
    start(ProxyEntry::plain);
    Client client(proxy->port());
    const std::string payload = '"' + std::string(250'000, 'p') + '"';
    EXPECT_EQ(client.post("/api/v1/jobs", R"({"type":"large","payload":)" + payload + "}").status,
              202);
    Client large(proxy->port());
    large.send(
        "POST /api/v1/jobs/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n{");
    const auto refusal = large.receive();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->status, 413);
}

// Both proxies accept chunks, and convert them to the one form that the engine reads alike.
TEST_P(BehindProxy, ChunkedBodiesGoThroughAndTheConnectionEndsWithThem) {
    start(ProxyEntry::plain);
    const std::string head =
        "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n";
    const std::string body = "5\r\n{\"typ\r\nd\r\ne\":\"chunked\"}\r\n0\r\n\r\n";
    const std::string next = request_text("GET", "/healthz", "");
    for (const char* more : {"\r\n", "Expect: 100-continue\r\n\r\n"}) {
        Client client(proxy->port());
        client.send(head + more + body + next);
        auto answer = client.receive();
        while (answer && answer->status == 100) answer = client.receive();
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->status, 202) << answer->body;
        EXPECT_TRUE(client.is_closed_by_peer(Millis(10'000))) << "what follows is served";
    }
    EXPECT_EQ(jobs_of_type("chunked"), 2u);

    Client too_large(proxy->port());
    too_large.send(head + "\r\n100001\r\n" + std::string(0x100001, ' ') + "\r\n0\r\n\r\n");
    const auto refusal = too_large.receive();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->status, 413);
}

TEST_P(BehindProxy, TargetsWithAHostAndEncodedLettersGoThrough) {
    start(ProxyEntry::plain);
    Client client(proxy->port());
    const Headers host{{"Host", "localhost"}};
    EXPECT_EQ(client.get("http://localhost/healthz", host).status, 200);
    EXPECT_EQ(client.get("/%68ealthz", host).status, 200);
    EXPECT_EQ(client.get("/api/v1%2Fjobs", host).status, 400);
    Client old(proxy->port());
    old.send("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n");
    const auto answer = old.receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
}

// No bad request hides another one: each accepted one was answered as accepted, unless its answer
// did not come in time.
TEST_P(BehindProxy, MalformedRequestsDoNoHarm) {
    start(ProxyEntry::plain);
    std::size_t accepted = 0;
    std::size_t unanswered = 0;
    for (const RawRequest& bad : bad_generated()) {
        if (bad.name.starts_with("the first ")) continue;  // a proxy would wait for the rest
        const std::vector<int> answers = statuses(proxy->port(), bad.bytes);
        unanswered += answers.empty();
        const auto jobs = std::count(answers.begin(), answers.end(), 202);
        EXPECT_LE(jobs, 1) << bad.name;
        EXPECT_EQ(std::count(answers.begin(), answers.end(), 500), 0) << bad.name;
        accepted += static_cast<std::size_t>(jobs);
    }
    EXPECT_EQ(Client(proxy->port()).get("/healthz").status, 200);
    proxy.reset();  // nothing is under way any more
    EXPECT_GE(jobs_of_type("malformed"), accepted);
    EXPECT_LE(jobs_of_type("malformed"), accepted + unanswered);
    EXPECT_EQ(engine->stop(), 0);
}

// A server of HTTP/2 answers these bytes with a frame of its own.
TEST_P(BehindProxy, NobodySpeaksHttp2WithoutHavingAgreedOnIt) {
    const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    const std::string settings("\0\0\0\x04\0\0\0\0\0", 9);
    const auto expect_refusal = [](const std::string& answer) {
        EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 4")) << answer;
    };
    start(ProxyEntry::plain);
    Client plain(proxy->port());
    plain.send(preface + settings);
    expect_refusal(plain.receive_some(Millis(10'000)));

    start(ProxyEntry::tls);
    TlsClient sealed(proxy->port());
    sealed.send(preface + settings);
    expect_refusal(sealed.receive_some());
}

// After each attack another client, on a connection of its own, gets the answer to its own request.
TEST_P(BehindProxy, NoRequestIsSmuggledInAnother) {
    start(ProxyEntry::plain);
    const std::vector<RawRequest> attacks = smuggling_attacks();
    EXPECT_GE(attacks.size(), 80u);
    int number = 0;
    for (const RawRequest& attack : attacks) {
        statuses(proxy->port(), attack.bytes);
        const std::string mark = "victim-" + std::to_string(++number);
        const Response answer =
            Client(proxy->port()).get("/healthz?x=" + mark, {{"X-Request-Id", mark}});
        EXPECT_EQ(answer.status, 200) << attack.name;
        EXPECT_EQ(answer.header("X-Request-Id"), mark) << attack.name;
        EXPECT_EQ(jobs_of_type("smuggled"), 0u) << attack.name;
    }
    proxy.reset();  // nothing is under way any more
    EXPECT_EQ(jobs_of_type("smuggled"), 0u);
}

TEST(Smuggling, IsRefusedWithoutAProxyToo) {
    Engine engine("memory:");
    Api api(engine.port(), "default");
    for (const RawRequest& attack : smuggling_attacks()) {
        statuses(engine.port(), attack.bytes);
        EXPECT_TRUE(list(api.get("/api/v1/jobs"), "jobs").empty()) << attack.name;
    }
}

}  // namespace proxy_test
}  // namespace sluice::e2e
