// Messages of a worker to a real engine, through the desk that the runner uses.
#include "client/worker/http_desk.hpp"

#include <thread>

#include "client/link/repeat_pause.hpp"
#include "e2e/api.hpp"
#include "support/scripted_server.hpp"

namespace sluice::e2e {
namespace http_desk_test {

using client::ClaimRequest;
using client::Error;
using client::HeartbeatRequest;
using client::LeaseAnswer;
using client::LogEntry;
using client::Outcome;
using client::ReportRequest;

client::Options options_for(std::uint16_t port) {
    client::Options options;
    options.server = "http://127.0.0.1:" + std::to_string(port);
    return options;
}

class HttpDesk : public EachStore {
  protected:
    HttpDesk() : desk(client::http_desk(options_for(engine.port()))) {}

    ClaimRequest wanted(int limit = 1) const {
        ClaimRequest request;
        request.worker_id = "w";
        request.queues = {api.queue()};
        request.limit = limit;
        request.lease = Millis(30'000);
        return request;
    }

    client::LeasedJob lease_one() { return desk->claim(wanted()).at(0); }

    std::unique_ptr<client::Desk> desk;
};
INSTANTIATE_TEST_SUITE_P(Store, HttpDesk, testing::Values("memory", "sqlite"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(HttpDesk, ClaimsWhatFits) {
    const std::string id = api.submit_id({{"payload", Fields{{"a", 1}}}, {"labels", List{"gpu"}}});
    ClaimRequest request = wanted(10);

    EXPECT_TRUE(desk->claim(request).empty());
    request.labels = {"gpu", "large"};
    request.types = {"task"};
    const auto leased = desk->claim(request);
    ASSERT_EQ(leased.size(), 1u);
    EXPECT_EQ(leased[0].job.id, id);
    EXPECT_EQ(leased[0].job.payload, R"({"a":1})");
    EXPECT_EQ(leased[0].job.attempt, 1);
    EXPECT_EQ(leased[0].job.locked_by, "w");
}

TEST_P(HttpDesk, WaitsForWorkUntilToldNotTo) {
    ClaimRequest request = wanted();
    request.wait = Millis(30'000);
    std::vector<client::LeasedJob> got;
    std::thread waiting([&] { got = desk->claim(request); });
    const std::string id = api.submit_id();
    waiting.join();
    ASSERT_EQ(got.size(), 1u);

    const auto start = std::chrono::steady_clock::now();
    std::thread stopping([&] {
        std::this_thread::sleep_for(Millis(50));
        desk->stop_waiting();
    });
    EXPECT_TRUE(desk->claim(request).empty());
    EXPECT_TRUE(desk->claim(request).empty());
    EXPECT_GT(since(start), Millis(1000));  // it might have been granted
    EXPECT_LT(since(start), Millis(2500));
    stopping.join();
    const std::vector<HeartbeatRequest> beats{{got[0].lease_id, 10, "still here"}};
    EXPECT_EQ(desk->heartbeat(beats).at(0), LeaseAnswer::held);
    EXPECT_EQ(number(api.job(id), "progress"), 10);
}

TEST_P(HttpDesk, HearsAboutEachLease) {
    for (int i = 0; i < 3; ++i) api.submit_id();
    const auto leased = desk->claim(wanted(3));
    ASSERT_EQ(leased.size(), 3u);
    expect_ok(api.cancel(leased[1].job.id));
    EXPECT_EQ(desk->release(leased[2].lease_id, "not mine"), LeaseAnswer::held);

    const std::vector<HeartbeatRequest> beats{
        {leased[0].lease_id, {}, {}}, {leased[1].lease_id, {}, {}}, {leased[2].lease_id, {}, {}}};
    EXPECT_EQ(desk->heartbeat(beats),
              (std::vector{LeaseAnswer::held, LeaseAnswer::stop_requested, LeaseAnswer::lost}));
    EXPECT_EQ(desk->release(leased[2].lease_id, ""), LeaseAnswer::lost);
    EXPECT_EQ(desk->append_logs(leased[2].lease_id, std::vector{LogEntry{}}), LeaseAnswer::lost);
    EXPECT_TRUE(desk->heartbeat({}).empty());
}

TEST_P(HttpDesk, ReportsEveryOutcome) {
    for (int i = 0; i < 4; ++i) api.submit_id({{"max_attempts", 1}});
    const auto leased = desk->claim(wanted(4));
    ASSERT_EQ(leased.size(), 4u);
    const std::vector<ReportRequest> reports{
        {leased[0].lease_id, Outcome::succeeded(R"({"n" : 1})")},
        {leased[1].lease_id, Outcome::failed("broken", "it\nbroke", false)},
        {leased[2].lease_id, Outcome::canceled("enough")},
        {leased[3].lease_id, Outcome::timed_out("too slow")}};

    for (int i = 0; i < 2; ++i) {  // the same report again gets the same answer
        EXPECT_EQ(desk->report(reports), std::vector(4, LeaseAnswer::held));
    }
    EXPECT_EQ(api.state(leased[0].job.id), "succeeded");
    EXPECT_EQ(text(api.job(leased[1].job.id), "error_message"), "it\nbroke");
    EXPECT_EQ(api.state(leased[2].job.id), "canceled");
    EXPECT_EQ(api.state(leased[3].job.id), "timed_out");
}

TEST_P(HttpDesk, ReportsTooLateAreLost) {
    api.submit_id();
    const auto leased = lease_one();
    expect_ok(api.cancel(leased.job.id));

    EXPECT_EQ(desk->report(std::vector<ReportRequest>{{leased.lease_id, Outcome::succeeded()}}),
              std::vector{LeaseAnswer::lost});
}

TEST_P(HttpDesk, OneBadReportDoesNotSpoilTheOthers) {
    for (int i = 0; i < 4; ++i) api.submit_id();
    const auto leased = desk->claim(wanted(4));
    const std::string deep = std::string(31, '[') + std::string(31, ']');
    const std::string huge = '"' + std::string(300 * 1024, 'x') + '"';

    const auto words = desk->report(
        std::vector<ReportRequest>{{leased.at(0).lease_id, Outcome::succeeded("not json")},
                                   {leased.at(1).lease_id, Outcome::succeeded(deep)},
                                   {leased.at(2).lease_id, Outcome::succeeded(huge)},
                                   {leased.at(3).lease_id, Outcome::succeeded("4")}});

    EXPECT_EQ(words, (std::vector{LeaseAnswer::refused, LeaseAnswer::held, LeaseAnswer::refused,
                                  LeaseAnswer::held}));
    EXPECT_EQ(api.state(leased.at(3).job.id), "succeeded");
}

TEST_P(HttpDesk, SendsLinesOfAnyKindAndNumberOnce) {
    api.submit_id();
    const auto leased = lease_one();
    std::vector<LogEntry> entries;
    for (int i = 1; i <= 1100; ++i) {
        LogEntry entry;
        entry.message = i == 1 ? std::string("nul \0 \xFF", 7) : std::to_string(i);
        entry.data = i == 2 ? "not json" : "";
        entry.line = i;
        entries.push_back(entry);
    }
    for (int i = 1101; i <= 1140; ++i) {
        LogEntry entry;
        entry.message = std::string(60'000, 'x');
        entry.line = i;
        entries.push_back(entry);
    }

    EXPECT_EQ(desk->append_logs(leased.lease_id, entries), LeaseAnswer::held);
    EXPECT_EQ(desk->append_logs(leased.lease_id, entries), LeaseAnswer::held);

    const Json page = api.get("/api/v1/jobs/" + leased.job.id + "/logs?limit=1000");
    const List& first = list(page, "logs");
    ASSERT_EQ(first.size(), 1000u);
    EXPECT_EQ(text(first[0], "message"), "nul \xEF\xBF\xBD \xEF\xBF\xBD");
    EXPECT_EQ(text(first[1], "data"), "not json");
    const Json rest = api.get("/api/v1/jobs/" + leased.job.id + "/logs?limit=1000&after=1000");
    EXPECT_EQ(list(rest, "logs").size(), 140u);
}

TEST(HttpDeskAlone, SaysWhetherARepeatIsWorthIt) {
    client::ScriptedServer busy([](const std::string&) {
        return client::answer_text("503 Busy", "Retry-After: 2\r\n", "");
    });
    const auto away = client::http_desk(options_for(1));
    const auto overloaded = client::http_desk(options_for(static_cast<std::uint16_t>(busy.port())));
    const std::vector<HeartbeatRequest> beats{{"x", {}, {}}};
    ClaimRequest request;
    request.worker_id = "w";

    for (client::Desk* desk : {away.get(), overloaded.get()}) {
        try {
            desk->heartbeat(beats);
            ADD_FAILURE();
        } catch (const Error& error) {
            EXPECT_TRUE(error.may_be_repeated());
        }
        EXPECT_THROW(desk->claim(request), Error);
        EXPECT_THROW(desk->release("x", ""), Error);
    }
    EXPECT_EQ(busy.requests().size(), 3u);
}

// A proxy between worker and engine that fails must not cost a finished result.
TEST(HttpDeskAlone, WhatNoEngineSaidIsNoWordAboutALease) {
    std::string status;
    client::ScriptedServer proxy(
        [&](const std::string&) { return client::answer_text(status, "", "<html>"); });
    const auto desk = client::http_desk(options_for(static_cast<std::uint16_t>(proxy.port())));
    const std::vector<ReportRequest> reports{{"x", Outcome::succeeded("1")},
                                             {"y", Outcome::succeeded("2")}};
    for (const char* trouble :
         {"400 Bad Request", "404 Not Found", "408 Request Timeout", "421 Misdirected Request",
          "429 Too Many Requests", "501 Not Implemented"}) {
        status = trouble;
        for (const std::size_t count : {1u, 2u}) {
            try {
                desk->report(std::span(reports).first(count));
                ADD_FAILURE() << trouble;
            } catch (const Error& error) {
                EXPECT_TRUE(client::is_passing(error)) << trouble;
            }
        }
        EXPECT_THROW(desk->append_logs("x", std::vector{LogEntry{}}), Error) << trouble;
    }
}

TEST(HttpDeskAlone, ASingleReportThatIsRefusedSaysWhy) {
    client::ScriptedServer engine([](const std::string&) {
        return client::answer_text("422 No", "", R"({"code":"invalid","detail":"not like this"})");
    });
    const auto desk = client::http_desk(options_for(static_cast<std::uint16_t>(engine.port())));
    const std::vector<ReportRequest> reports{{"x", Outcome::succeeded("1")},
                                             {"y", Outcome::succeeded("2")}};

    EXPECT_EQ(desk->report(reports), std::vector(2, LeaseAnswer::refused));
    try {
        desk->report(std::span(reports).first(1));
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "not like this");
    }
}

TEST(HttpDeskAlone, KeepsThePasswordOfTheServerForItself) {
    client::ScriptedServer other(
        [](const std::string&) { return client::answer_text("404 Not Found", "", "<html>"); });
    client::Options options;
    const std::string place = "me:s3cret@127.0.0.1:" + std::to_string(other.port());
    options.server = "http://" + place;
    const auto desk = client::http_desk(options);
    const auto message_of = [](auto call) -> std::string {
        try {
            call();
        } catch (const Error& error) {
            return error.what();
        }
        return "s3cret";
    };

    EXPECT_EQ(message_of([&] { desk->release("x", ""); }).find("s3cret"), std::string::npos);
    options.server = "http://" + place + "/?query";
    EXPECT_EQ(message_of([&] { client::http_desk(options); }).find("s3cret"), std::string::npos);
}

}  // namespace http_desk_test
}  // namespace sluice::e2e
