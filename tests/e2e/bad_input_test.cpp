// Hundreds of bad requests: each gets one clear refusal, none costs memory, none leaves a trace.
#include <fstream>

#include "e2e/api.hpp"
#include "e2e/bad_requests.hpp"
#include "support/sanitizers.hpp"

namespace sluice::e2e {
namespace bad_input_test {

class BadInput : public testing::TestWithParam<const char*> {
  protected:
    BadInput()
        : own(GetParam() == std::string("memory") ? "memory:"
                                                  : "sqlite:" + (folder.path() / "db").string()),
          own_api(own.port(), "default") {}

    void expect_all_refused(const std::vector<BadRequest>& cases, std::size_t at_least) {
        EXPECT_GE(cases.size(), at_least);
        for (const BadRequest& bad : cases) {
            SCOPED_TRACE(bad.name);
            expect_refused_alone(bad);
        }
        EXPECT_EQ(own_api.http.get("/healthz").status, 200);
        EXPECT_TRUE(list(own_api.get("/api/v1/jobs"), "jobs").empty()) << "something got through";
    }

    TempFolder folder;
    Engine own;
    Api own_api;

  private:
    void expect_refused_alone(const BadRequest& bad) {
        Client client(own.port());
        client.send(bad.bytes);
        const auto head = client.receive_head(Millis(10'000));
        ASSERT_TRUE(head) << "no answer";
        ASSERT_EQ(head->status, bad.status) << client.receive_some(Millis(1000));
        EXPECT_FALSE(head->header("X-Request-Id").empty());
        if (bad.bytes.starts_with("HEAD")) return;
        expect_problem(client, *head, bad);
        if (head->status == 405) {
            EXPECT_FALSE(head->header("Allow").empty());
        }
        EXPECT_EQ(head->header("Connection"), bad.closes ? "close" : "");
        if (bad.closes) {
            EXPECT_TRUE(client.is_closed_by_peer(Millis(5000))) << "more than one answer";
        }
    }

    static void expect_problem(Client& client, const Response& head, const BadRequest& bad) {
        EXPECT_EQ(head.header("Content-Type"), "application/problem+json");
        const std::size_t size = std::stoul(head.header("Content-Length"));
        EXPECT_LT(size, 20'000u) << "a refusal does not repeat what it refuses";
        std::string body;
        while (body.size() < size) {
            const std::string more = client.receive_some(Millis(5000));
            ASSERT_FALSE(more.empty());
            body += more;
        }
        EXPECT_EQ(body.size(), size) << "more than one answer";
        const Json problem = parse(body);
        if (!bad.code.empty()) {
            EXPECT_EQ(text(problem, "code"), bad.code) << body;
        }
        EXPECT_FALSE(text(problem, "detail").empty());
        EXPECT_EQ(text(problem, "request_id"), head.header("X-Request-Id"));
        for (const char* leak :
             {"SELECT", "INSERT", "/work/", "src/", ".cpp", "sqlite", "postgres"}) {
            EXPECT_EQ(body.find(leak), std::string::npos) << body;
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Store, BadInput, testing::Values("memory", "sqlite"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(BadInput, BadFramingIsRefusedAndEndsTheConnection) {
    expect_all_refused(bad_framing(), 100);
}

TEST_P(BadInput, WrongPathsMethodsAndParametersAreRefused) {
    expect_all_refused(bad_routing(), 100);
}

TEST_P(BadInput, BadJsonIsRefused) {
    expect_all_refused(bad_json(), 100);
}

TEST_P(BadInput, BadFieldsAreRefused) {
    expect_all_refused(bad_fields(), 200);
}

TEST_P(BadInput, CostsNoMemory) {
    if (is_sanitized) GTEST_SKIP() << "memory is not given back at once here";
    const auto all = [&] {
        for (const auto& cases : {bad_framing(), bad_routing(), bad_json(), bad_fields()}) {
            for (const BadRequest& bad : cases) {
                Client client(own.port());
                client.send(bad.bytes);
                client.receive_head(Millis(10'000));
            }
        }
    };
    all();
    const std::int64_t before = own.resident_kilobytes();
    for (int round = 0; round < 3; ++round) all();

    EXPECT_LT(own.resident_kilobytes() - before, 10 * 1024);
    EXPECT_EQ(own_api.http.get("/readyz").status, 200);
}

TEST_P(BadInput, ARefusalKeepsTheConnectionUsableUnlessItsFramingWasBad) {
    Client client(own.port());
    for (const BadRequest& bad : bad_fields()) {
        client.send(bad.bytes);
        const auto response = client.receive();
        ASSERT_TRUE(response) << bad.name;
        EXPECT_EQ(response->status, bad.status) << bad.name;
    }
    EXPECT_EQ(client.get("/healthz").status, 200);
}

TEST(SlowClient, WhoStopsInTheMiddleIsToldSoAndCut) {
    const TempFolder folder;
    const std::string config = (folder.path() / "fast.toml").string();
    std::ofstream(config) << "[limits]\nheader_time = \"300ms\"\nbody_time = \"300ms\"\n"
                             "idle_time = \"300ms\"\n";
    Engine engine("memory:", {"--config", config});
    Client head(engine.port());
    head.send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    Client body(engine.port());
    body.send("POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 30\r\n\r\n{");
    Client idle(engine.port());

    for (Client* client : {&head, &body}) {
        const auto response = client->receive();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->status, 408);
        EXPECT_TRUE(client->is_closed_by_peer(Millis(5000)));
    }
    EXPECT_TRUE(idle.is_closed_by_peer(Millis(5000)));
}

TEST_P(BadInput, ClientsThatVanishInTheMiddleCostNothing) {
    for (int i = 0; i < 200; ++i) {
        Client client(own.port());
        const std::string whole = request_text("POST", "/api/v1/jobs", R"({"typ":"t"})");
        client.send(whole.substr(0, static_cast<std::size_t>(i) % whole.size()));
    }
    EXPECT_EQ(own_api.http.get("/healthz").status, 200);
    EXPECT_TRUE(list(own_api.get("/api/v1/jobs"), "jobs").empty());
}

TEST_P(BadInput, PipelinedRequestsAreAnsweredInOrder) {
    Client client(own.port());
    std::string all;
    for (int i = 0; i < 50; ++i) {
        all += request_text("GET", "/api/v1/jobs/" + std::to_string(i), "",
                            {{"X-Request-Id", "r" + std::to_string(i)}});
    }
    client.send(all);
    for (int i = 0; i < 50; ++i) {
        const auto response = client.receive();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->header("X-Request-Id"), "r" + std::to_string(i));
        EXPECT_EQ(response->status, 404);
    }
}

TEST_P(BadInput, ABodyMayComeByteByByteAndAfter100Continue) {
    Client client(own.port());
    const std::string body = R"({"typ":"t"})";
    client.send(
        "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        "Content-Type: application/json; charset=utf-8\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n");
    const auto go_on = client.receive_head();
    ASSERT_TRUE(go_on);
    EXPECT_EQ(go_on->status, 100);
    for (const char byte : body) client.send({&byte, 1});
    const auto response = client.receive();
    ASSERT_TRUE(response);
    expect_refused(*response, 422, "invalid", "/typ");
}

}  // namespace bad_input_test
}  // namespace sluice::e2e
