// Seed 002: the stream of a job, and its logs.
#include "conformance/jobs.hpp"

namespace sluice::e2e {
namespace jobs_stream_test {

class JobsStream : public JobsTest {
  protected:
    // A job with four log lines that succeeded in its second attempt.
    std::string whole_life() {
        const std::string id = jobs.create_id({{"maxAttempts", 2}});
        Json lease = jobs.claim();
        expect_ok(jobs.worker.log(lease, {log_entry("a"), log_entry("b")}));
        expect_ok(jobs.worker.release(lease));
        lease = jobs.claim();
        expect_ok(jobs.worker.log(lease, {log_entry("c\nd"), log_entry("data: e")}));
        expect_ok(jobs.worker.report(lease, {{"outcome", "succeeded"}, {"result", List{1}}}));
        return id;
    }
};

std::vector<std::string> messages(const std::vector<StreamEvent>& events) {
    std::vector<std::string> found;
    for (const StreamEvent& event : events) {
        if (event.type == "log") found.push_back(text(parse(event.data), "message"));
    }
    return found;
}

TEST_F(JobsStream, TheExampleOfTheDocument) {
    const Response created = jobs.post(R"({"action":"trigger-github-workflow"})");
    const Json job = expect_ok(created, 202);
    ASSERT_EQ(text(job, "state"), "pending");
    const std::string id = text(job, "id");
    EventStream stream(engine.port(), stream_path(id));

    const Json lease = jobs.claim({{"types", List{"trigger-github-workflow"}}});
    EXPECT_EQ(jobs.state(id), "running");
    EXPECT_FALSE(text(jobs.job(id), "startedAt").empty());
    expect_ok(jobs.worker.log(lease, {log_entry("dispatched")}));
    const auto log = stream.next();
    expect_ok(
        jobs.worker.report(lease, {{"outcome", "succeeded"}, {"result", Fields{{"runId", 42}}}}));
    const std::vector<StreamEvent> rest = stream.rest();

    ASSERT_TRUE(log);
    EXPECT_EQ(log->type, "log");
    EXPECT_EQ(text(parse(log->data), "message"), "dispatched");
    ASSERT_EQ(rest.size(), 1u) << "a single event: status";
    EXPECT_EQ(rest[0].type, "status");
    EXPECT_EQ(parse(rest[0].data),
              Json(Fields{{"state", "success"}, {"output", Fields{{"runId", 42}}}}));
    EXPECT_TRUE(stream.ended());
}

// One session of a client of /api/jobs, byte for byte, with members that are not known here.
TEST_F(JobsStream, ASessionOfAClientOfTheField) {
    const std::string body = R"({"action":")" + jobs.action +
                             R"(","input":{"repo":"so1/web","ref":"main"},"priority":"5",)"
                             R"("uiSession":"9f","requestedBy":{"id":7,"roles":["dev"]}})";
    const Headers once{{"Idempotency-Key", fresh_name("key")}};
    const Json created = expect_ok(jobs.post(body, once), 202);
    const std::string id = text(created, "id");
    EXPECT_EQ(text(created, "state"), "pending");
    EXPECT_EQ(text(expect_ok(jobs.post(body, once), 202), "id"), id) << "a click that came twice";
    EXPECT_EQ(jobs.ids_of("action=" + jobs.action + "&state=pending&view=compact"),
              std::vector{id});

    // The first job is canceled while it runs, and its worker is told.
    EventStream first(engine.port(), stream_path(id) + "?follow=true");
    const Json lease = jobs.claim();
    expect_ok(jobs.worker.log(lease, {log_entry("checking out"), log_entry("building")}));
    EXPECT_EQ(first.next()->type, "log");
    const Response recalled = jobs.worker.http.post("/api/jobs/" + id + "/cancel?source=button",
                                                    R"({"reason":"wrong ref","confirm":true})");
    EXPECT_EQ(text(expect_ok(recalled), "state"), "cancelled");
    const std::vector<StreamEvent> told = first.rest();
    EXPECT_EQ(text(parse(told.back().data), "state"), "cancelled");
    EXPECT_TRUE(first.ended());
    EXPECT_TRUE(flag(expect_ok(jobs.worker.heartbeat(lease)), "cancel_requested"));
    expect_ok(jobs.worker.report(lease, {{"outcome", "canceled"}}));

    // It is replayed: a new job, whose stream is resumed after the second line.
    const Response replayed =
        jobs.worker.http.post("/api/jobs/" + id + "/replay", R"({"reason":"again","tab":2})");
    const std::string again = text(expect_ok(replayed, 202), "id");
    EXPECT_NE(again, id);
    EXPECT_EQ(text(jobs.job(again), "replayOf"), id);
    const Json run = jobs.claim();
    expect_ok(jobs.worker.log(run, {log_entry("one"), log_entry("two"), log_entry("three")}));
    EventStream second(engine.port(), stream_path(again));
    second.next();
    const auto seen = second.next();
    expect_ok(jobs.worker.report(run, {{"outcome", "succeeded"}, {"result", Fields{{"run", 8}}}}));
    const std::vector<StreamEvent> rest = jobs.stream(again, seen->id);
    EXPECT_EQ(messages(rest), std::vector<std::string>{"three"});
    EXPECT_EQ(parse(rest.back().data),
              Json(Fields{{"state", "success"}, {"output", Fields{{"run", 8}}}}));
    EXPECT_EQ(jobs.logs(again).size(), 3u) << "logs outlive the end";
    EXPECT_EQ(jobs.state(id), "cancelled");
}

TEST_F(JobsStream, ClosesAfterATerminalStatusEvent) {
    for (const std::string& id : {jobs.succeeded(), jobs.failed(), jobs.cancelled()}) {
        EventStream stream(engine.port(), stream_path(id));
        const std::vector<StreamEvent> events = stream.rest();

        EXPECT_EQ(stream.head().header("Content-Type"), "text/event-stream; charset=utf-8");
        ASSERT_EQ(events.size(), 1u);
        EXPECT_EQ(events[0].type, "status");
        EXPECT_EQ(text(parse(events[0].data), "state"), jobs.state(id));
        EXPECT_TRUE(stream.ended());
    }
}

TEST_F(JobsStream, HasOneStatusHoweverManyStatesThereWere) {
    const std::vector<StreamEvent> events = jobs.stream(whole_life());

    EXPECT_EQ(messages(events), (std::vector<std::string>{"a", "b", "c\nd", "data: e"}));
    ASSERT_EQ(events.size(), 5u);
    EXPECT_EQ(events.back().type, "status");
}

TEST_F(JobsStream, LogEventsCarryTheLinesOfTheLog) {
    const std::string id = whole_life();
    const std::vector<StreamEvent> events = jobs.stream(id);
    const List logs = jobs.logs(id);

    ASSERT_EQ(logs.size(), 4u);
    for (std::size_t i = 0; i < logs.size(); ++i) {
        EXPECT_EQ(parse(events[i].data), logs[i]);
        for (const char* member : {"seq", "level", "message", "data", "timestamp"}) {
            EXPECT_TRUE(logs[i].as_object().contains(member)) << member;
        }
    }
}

TEST_F(JobsStream, OfAFailureTellsTheError) {
    const std::string id =
        jobs.run_to_end({{"outcome", "failed"}, {"error_code", "E"}, {"error_message", "broken"}});

    EXPECT_EQ(parse(jobs.stream(id).back().data),
              Json(Fields{{"state", "failed"},
                          {"output", nullptr},
                          {"error", Fields{{"code", "E"}, {"message", "broken"}}}}));
}

TEST_F(JobsStream, OfATimeoutIsAFailureWithItsCode) {
    const std::string id = jobs.run_to_end({{"outcome", "timed_out"}});

    const Json last = parse(jobs.stream(id).back().data);

    EXPECT_EQ(text(last, "state"), "failed");
    EXPECT_EQ(text(at(last, "error"), "code"), "JOB_TIMEOUT");
}

TEST_F(JobsStream, OfACancellationTellsTheReason) {
    const std::string id = jobs.create_id();
    EventStream stream(engine.port(), stream_path(id));

    expect_ok(jobs.cancel(id, {{"reason", "enough"}}));

    const std::vector<StreamEvent> events = stream.rest();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(parse(events[0].data),
              Json(Fields{{"state", "cancelled"}, {"output", nullptr}, {"reason", "enough"}}));
}

TEST_F(JobsStream, ResumesAfterEachEventWithoutGapsOrRepeats) {
    const std::string id = whole_life();
    const std::vector<StreamEvent> all = jobs.stream(id);

    for (std::size_t seen = 1; seen < all.size(); ++seen) {
        const std::vector<StreamEvent> rest = jobs.stream(id, all[seen - 1].id);
        ASSERT_EQ(rest.size(), all.size() - seen);
        for (std::size_t i = 0; i < rest.size(); ++i) {
            EXPECT_EQ(rest[i].id, all[seen + i].id);
            EXPECT_EQ(rest[i].data, all[seen + i].data);
        }
    }
    const Response after_the_end =
        jobs.get("/" + id + "/stream", {{"Last-Event-ID", all.back().id}});
    EXPECT_EQ(after_the_end.status, 204) << "tells an EventSource not to come back";
}

TEST_F(JobsStream, IsWhatLogsAnswerToWhoeverAcceptsEvents) {
    const std::string id = whole_life();
    const std::string path = "/api/jobs/" + id + "/logs";

    EventStream stream(engine.port(), path, {{"Accept", "text/event-stream"}});
    const Response page = jobs.worker.http.get(path, {{"Accept", "application/json"}});

    EXPECT_EQ(stream.head().header("Content-Type"), "text/event-stream; charset=utf-8");
    EXPECT_EQ(stream.rest().size(), 5u);
    EXPECT_EQ(page.header("Content-Type"), "application/json");
    EXPECT_EQ(list(parse(page.body), "logs").size(), 4u);
}

TEST_F(JobsStream, RefusesPlacesThatAreNotThereAndJobsOfOthers) {
    const std::string id = jobs.create_id();
    for (const char* bad : {"x", "-1", "7"}) {
        expect_refused(jobs.get("/" + id + "/stream", {{"Last-Event-ID", bad}}), 400, "malformed");
    }
    expect_refused(jobs.get("/" + id + "/stream?tenant=other"), 404, "not_found");
    expect_refused(jobs.get("/65f000000000000000000000/stream"), 404, "not_found");
}

class JobsLogs : public JobsTest {};

TEST_F(JobsLogs, ComeInPages) {
    const std::string id = jobs.create_id();
    const Json lease = jobs.claim();
    expect_ok(jobs.worker.log(lease, {log_entry("1"), log_entry("2"), log_entry("3")}));

    const Json first = expect_ok(jobs.get("/" + id + "/logs?limit=2"));
    const std::string next = std::to_string(number(first, "nextAfter"));
    const Json second = expect_ok(jobs.get("/" + id + "/logs?limit=2&after=" + next));

    EXPECT_EQ(list(first, "logs").size(), 2u);
    ASSERT_EQ(list(second, "logs").size(), 1u);
    EXPECT_EQ(text(list(second, "logs")[0], "message"), "3");
    EXPECT_EQ(number(second, "nextAfter"), 3);
    expect_refused(jobs.get("/" + id + "/logs?limit=0"), 400, "malformed");
    expect_refused(jobs.get("/" + id + "/logs?tenant=other"), 404, "not_found");
}

}  // namespace jobs_stream_test
}  // namespace sluice::e2e
