// Server-Sent Events about one job.
#include <signal.h>

#include "e2e/api.hpp"
#include "support/sanitizers.hpp"

namespace sluice::e2e {
namespace stream_test {

ON_EACH_STORE(Stream);

std::string path_of(const std::string& id) {
    return "/api/v1/jobs/" + id + "/stream";
}

Json log_line(const std::string& message) {
    return Fields{{"message", message}};
}

// A job that has ended, with logs before and after a retry: eleven items.
std::string full_life(Api& api) {
    const std::string id = api.submit_id({{"backoff", "none"}});
    Json lease = api.claim_one();
    expect_ok(api.log(lease, {log_line("a"), log_line("b")}));
    expect_ok(api.report(lease, {{"outcome", "failed"}, {"error_code", "E"}}));
    lease = api.claim_one();
    expect_ok(api.log(lease, {log_line("c\nd"), log_line("data: e"), log_line("f")}));
    expect_ok(api.log(lease, {Fields{{"message", "g"}, {"data", List{1, 2}}}}));
    expect_ok(api.report(lease, {{"outcome", "succeeded"}, {"result", Fields{{"ok", true}}}}));
    return id;
}

constexpr std::size_t life_events = 11;

void expect_ids_from(const std::vector<StreamEvent>& events, std::size_t first) {
    for (std::size_t i = 0; i < events.size(); ++i) {
        EXPECT_EQ(events[i].id, std::to_string(first + i));
    }
}

TEST_P(Stream, TellsTheWholeStoryInOrderAndEnds) {
    EventStream stream(engine.port(), path_of(full_life(api)));
    const std::vector<StreamEvent> events = stream.rest();

    EXPECT_EQ(stream.head().status, 200);
    EXPECT_EQ(stream.head().header("Content-Type"), "text/event-stream; charset=utf-8");
    EXPECT_EQ(stream.head().header("Cache-Control"), "no-store");
    ASSERT_EQ(events.size(), life_events);
    expect_ids_from(events, 1);
    std::string story;
    for (const StreamEvent& event : events) story += event.type == "log" ? "l" : "S";
    EXPECT_EQ(story, "SSllSSllllS");
    EXPECT_EQ(text(parse(events[2].data), "message"), "a");
    EXPECT_EQ(text(parse(events[6].data), "message"), "c\nd");
    EXPECT_EQ(text(parse(events[7].data), "message"), "data: e");
    const Json last = parse(events.back().data);
    EXPECT_EQ(text(last, "state"), "succeeded");
    EXPECT_EQ(at(last, "result"), (Fields{{"ok", true}}));
}

TEST_P(Stream, EveryEventCarriesJson) {
    EventStream stream(engine.port(), path_of(full_life(api)));

    for (const StreamEvent& event : stream.rest()) EXPECT_NO_THROW(parse(event.data)) << event.id;
}

TEST_P(Stream, ResumesAtEveryPositionWithExactlyTheRest) {
    const std::string id = full_life(api);
    for (std::size_t place = 0; place < life_events; ++place) {
        const std::string after = std::to_string(place);
        EventStream by_header(engine.port(), path_of(id), {{"Last-Event-ID", after}});
        EventStream by_query(engine.port(), path_of(id) + "?after=" + after);
        for (EventStream* stream : {&by_header, &by_query}) {
            const std::vector<StreamEvent> rest = stream->rest();
            EXPECT_EQ(rest.size(), life_events - place);
            expect_ids_from(rest, place + 1);
        }
    }
}

TEST_P(Stream, AfterTheEndThereIsNothing) {
    const std::string id = full_life(api);
    const std::string last = std::to_string(life_events);

    EXPECT_EQ(api.http.get(path_of(id), {{"Last-Event-ID", last}}).status, 204);
    EXPECT_EQ(api.http.get(path_of(id) + "?after=" + last).status, 204);
}

TEST_P(Stream, ShowsWhatHappensWhileItHappens) {
    const std::string id = api.submit_id();
    EventStream stream(engine.port(), path_of(id));
    const auto expect_next = [&](const std::string& type, const std::string& member,
                                 const std::string& value) {
        const auto event = stream.next();
        ASSERT_TRUE(event) << value;
        EXPECT_EQ(event->type, type);
        EXPECT_EQ(text(parse(event->data), member), value);
    };

    expect_next("status", "state", "queued");
    const Json lease = api.claim_one();
    expect_next("status", "state", "running");
    for (int i = 0; i < 5; ++i) {
        const auto start = std::chrono::steady_clock::now();
        expect_ok(api.log(lease, {log_line(std::to_string(i))}));
        expect_next("log", "message", std::to_string(i));
        EXPECT_LT(since(start), Millis(1000));
    }
    expect_ok(api.succeed(lease));
    expect_next("status", "state", "succeeded");
    EXPECT_TRUE(stream.rest().empty());
    EXPECT_TRUE(stream.ended());
}

TEST_P(Stream, JoinersAtAnyTimeSeeTheSame) {
    const std::string id = api.submit_id();
    EventStream early(engine.port(), path_of(id));
    const Json lease = api.claim_one();
    for (int i = 0; i < 300; ++i) expect_ok(api.log(lease, {log_line(std::to_string(i))}));
    EventStream middle(engine.port(), path_of(id));
    List more;
    for (int i = 300; i < 1000; ++i) more.push_back(log_line(std::to_string(i)));
    expect_ok(api.log(lease, more));
    expect_ok(api.succeed(lease));
    EventStream late(engine.port(), path_of(id));

    for (EventStream* stream : {&early, &middle, &late}) {
        const std::vector<StreamEvent> events = stream->rest();
        ASSERT_EQ(events.size(), 1003u);
        expect_ids_from(events, 1);
        EXPECT_EQ(events.back().type, "status");
    }
}

TEST_P(Stream, ManyReadersOfOneJobAllGetTheEnd) {
    const std::string id = api.submit_id();
    std::vector<std::unique_ptr<EventStream>> streams;
    for (int i = 0; i < 50; ++i) {
        streams.push_back(std::make_unique<EventStream>(engine.port(), path_of(id)));
    }

    expect_ok(api.cancel(id, {{"reason", "enough"}}));

    for (const auto& stream : streams) {
        const std::vector<StreamEvent> events = stream->rest();
        ASSERT_EQ(events.size(), 2u);
        EXPECT_EQ(text(parse(events[1].data), "error_message"), "enough");
    }
}

TEST_P(Stream, OfLongDataStaysOneEventPerLine) {
    const std::string id = api.submit_id();
    const Json lease = api.claim_one();
    const std::string body = R"({"entries":[{"message":"x","data":{)"
                             "\n  \"a\":\r\n [1,\n2] }}]}";
    expect_ok(api.http.post("/api/v1/leases/" + text(lease, "lease_id") + "/logs", body));
    expect_ok(api.log(lease, {log_line(std::string(60'000, 'x'))}));
    expect_ok(api.succeed(lease));

    EventStream stream(engine.port(), path_of(id));
    const std::vector<StreamEvent> events = stream.rest();

    ASSERT_EQ(events.size(), 5u);
    EXPECT_EQ(at(at(parse(events[2].data), "data"), "a"), (List{1, 2}));
    EXPECT_EQ(text(parse(events[3].data), "message").size(), 60'000u);
}

TEST_P(Stream, RefusesPlacesThatAreNotThere) {
    const std::string id = api.submit_id();
    for (const char* bad : {"-1", "x", "1.5", "18446744073709551616", "2", "9223372036854775807"}) {
        expect_refused(api.http.get(path_of(id), {{"Last-Event-ID", bad}}), 400, "malformed");
        expect_refused(api.http.get(path_of(id) + "?after=" + bad), 400, "malformed");
    }
    expect_refused(api.http.get(path_of(id) + "?from=1"), 400, "malformed");
    expect_refused(api.http.get(path_of("65f000000000000000000000")), 404, "not_found");
    expect_refused(api.http.get(path_of(id) + "?tenant=other"), 404, "not_found");
}

TEST_P(Stream, AnUnreadableQueryInTheHeaderIsRefusedToo) {
    const std::string id = api.submit_id();
    for (const char* bad : {"", "1&after=0", "%31", "1 2"}) {
        const Response response = api.http.get(path_of(id), {{"Last-Event-ID", bad}});
        EXPECT_EQ(response.status, 400) << bad << response.body;
    }
}

TEST(StreamAtShutdown, OfAJobThatNeverEndsEndsWithTheEngine) {
    Engine engine("memory:");
    Api api(engine.port(), "q");
    const std::string id = api.submit_id();
    EventStream stream(engine.port(), path_of(id));
    ASSERT_TRUE(stream.next());
    const auto start = std::chrono::steady_clock::now();

    engine.process().send_signal(SIGTERM);

    EXPECT_TRUE(stream.rest().empty());
    EXPECT_TRUE(stream.ended());
    EXPECT_EQ(engine.process().wait(Millis(10'000)), 0);
    EXPECT_LT(since(start), Millis(5000));
}

TEST(SlowReader, GetsEverythingByComingBackAndCostsLittle) {
    Engine engine("memory:");
    Api api(engine.port(), "q");
    const std::string id = api.submit_id();
    Client never_reads(engine.port());
    never_reads.send(request_text("GET", path_of(id), ""));
    auto reader = std::make_unique<EventStream>(engine.port(), path_of(id));
    const Json lease = api.claim_one();
    const std::string line(60'000, 'x');
    for (int i = 0; i < 100; ++i) expect_ok(api.log(lease, {log_line(line)}));
    expect_ok(api.succeed(lease));

    std::vector<StreamEvent> all;
    for (int visits = 0; visits < 100; ++visits) {
        for (StreamEvent& event : reader->rest()) all.push_back(std::move(event));
        if (all.size() >= 103) break;
        const std::string last = all.empty() ? "0" : all.back().id;
        reader = std::make_unique<EventStream>(engine.port(), path_of(id),
                                               Headers{{"Last-Event-ID", last}});
    }

    ASSERT_EQ(all.size(), 103u);
    expect_ids_from(all, 1);
    EXPECT_TRUE(is_sanitized || engine.resident_kilobytes() < 200'000);
    EXPECT_EQ(engine.stop(), 0);
}

}  // namespace stream_test
}  // namespace sluice::e2e
