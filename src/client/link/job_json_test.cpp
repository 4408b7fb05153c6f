#include "client/link/job_json.hpp"

#include <gtest/gtest.h>

namespace sluice::client {
namespace job_json_test {

constexpr std::string_view whole_job =
    R"({"id":"6af930d6039a000000000000","tenant":"acme","project":null,"queue":"mail",
"type":"greet","state":"running","entity_type":"order","entity_id":"7",
"site_id":null,"node_id":"n1","exclusive_keys":["a","b"],"labels":["gpu"],
"depends_on":["6af930d6039a000000000001"],"on_dependency_failure":"run","priority":-5,
"payload":{"name": "Ada" , "n":1.50},"payload_digest":"00","result":null,"error_code":null,
"error_message":null,"attempt":2,"max_attempts":3,
"backoff":{"kind":"exponential","base_ms":1000,"cap_ms":300000},"timeout_ms":1800000,
"run_after":"2026-11-15T04:11:02.922Z","progress":40,"message":"half",
"locked_by":"w1","locked_at":null,"lease_until":"2026-11-15T04:11:32.000Z",
"replay_of":null,"source":"cli","correlation_id":"c",
"created_at":"2026-11-15T04:11:02.922Z","started_at":"2026-11-15T04:11:03.000Z",
"completed_at":null,"revision":4,"some_new_field":{"deep":[1,2]}})";

template <class Read>
auto read(std::string_view text, Read read_value) {
    JsonReader reader(text, answer_depth_max);
    auto value = read_value(reader);
    const auto done = reader.finish();
    EXPECT_TRUE(done) << done.error().pointer << " " << done.error().message;
    return value;
}

template <class Read>
std::string problem(std::string_view text, Read read_value) {
    JsonReader reader(text, answer_depth_max);
    read_value(reader);
    const auto done = reader.finish();
    return done ? "" : done.error().pointer + " " + done.error().message;
}

TEST(JobJson, ReadsEveryFieldOfAJob) {
    const Job job = read(whole_job, read_job);

    EXPECT_EQ(job.id, "6af930d6039a000000000000");
    EXPECT_EQ(job.tenant, "acme");
    EXPECT_EQ(job.project, "");
    EXPECT_EQ(job.queue, "mail");
    EXPECT_EQ(job.type, "greet");
    EXPECT_EQ(job.state, State::running);
    EXPECT_EQ(job.entity_type, "order");
    EXPECT_EQ(job.entity_id, "7");
    EXPECT_EQ(job.site_id, "");
    EXPECT_EQ(job.node_id, "n1");
    EXPECT_EQ(job.exclusive_keys, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(job.labels, std::vector<std::string>{"gpu"});
    EXPECT_EQ(job.depends_on, std::vector<std::string>{"6af930d6039a000000000001"});
    EXPECT_EQ(job.on_dependency_failure, OnDependencyFailure::run);
    EXPECT_EQ(job.priority, -5);
    EXPECT_EQ(job.payload, R"({"name": "Ada" , "n":1.50})");
    EXPECT_EQ(job.result, "");
    EXPECT_EQ(job.attempt, 2);
    EXPECT_EQ(job.max_attempts, 3);
    EXPECT_EQ(job.backoff, Backoff::exponential(Millis(1000), Millis(300'000)));
    EXPECT_EQ(job.timeout, Millis(1'800'000));
    EXPECT_EQ(job.run_after, parse_rfc3339("2026-11-15T04:11:02.922Z"));
    EXPECT_EQ(job.progress, 40);
    EXPECT_EQ(job.message, "half");
    EXPECT_EQ(job.locked_by, "w1");
    EXPECT_EQ(job.lease_until, parse_rfc3339("2026-11-15T04:11:32Z"));
    EXPECT_EQ(job.source, "cli");
    EXPECT_EQ(job.correlation_id, "c");
    EXPECT_EQ(job.completed_at, std::nullopt);
    EXPECT_EQ(job.revision, 4);
    EXPECT_EQ(job.json, whole_job);
}

// The JSON that an engine sends for each kind, and that a submit sends for the same backoff.
TEST(JobJson, ABackoffIsReadAsItIsWritten) {
    for (const auto& [backoff, text] : std::vector<std::pair<Backoff, std::string>>{
             {Backoff::none(), R"("none")"},
             {Backoff::list({Millis(60'000), Millis(300'000)}), "[60000,300000]"},
             {Backoff::exponential(Millis(1), Millis(2)),
              R"({"kind":"exponential","base_ms":1,"cap_ms":2})"}}) {
        const Job job =
            read(R"({"id":"1","type":"t","state":"queued","backoff":)" + text + "}", read_job);
        EXPECT_EQ(job.backoff, backoff) << text;
        NewJob wanted{.type = "t"};
        wanted.backoff = backoff;
        std::string body;
        JsonWriter json(body);
        write_new_job(json, wanted, "", "");
        EXPECT_NE(body.find("\"backoff\":" + text), std::string::npos) << body;
    }
    // From an engine that sends neither.
    const Job job = read(R"({"id":"1","type":"t","state":"queued"})", read_job);
    EXPECT_EQ(job.backoff, Backoff::none());
    EXPECT_EQ(job.on_dependency_failure, OnDependencyFailure::cancel);
}

TEST(JobJson, KeepsAPayloadOfNullApartFromNoResult) {
    const Job job =
        read(R"({"id":"1","type":"t","state":"queued","payload":null,"result":null})", read_job);

    EXPECT_EQ(job.payload, "null");
    EXPECT_EQ(job.result, "");
}

TEST(JobJson, ReadsPayloadsAsDeepAsAnEngineTakesThem) {
    const std::string deep = std::string(31, '[') + std::string(31, ']');
    const std::string job = R"({"id":"1","type":"t","state":"queued","payload":)" + deep + "}";
    const std::string text = R"({"leases":[{"job":)" + job + "}]}";

    const auto jobs = read(text, [](JsonReader& reader) {
        return read_list<Job>(reader, "leases", [](JsonReader& in) {
            Job read_one;
            in.object([&](std::string_view) { read_one = read_job(in); });
            return read_one;
        });
    });
    EXPECT_EQ(jobs.at(0).payload, deep);
}

TEST(JobJson, NoticesWhatIsNoJob) {
    EXPECT_NE(problem("{}", read_job), "");
    EXPECT_NE(problem("[]", read_job), "");
    EXPECT_NE(problem(R"({"id":"1","type":"t"})", read_job), "");
    EXPECT_NE(problem(R"({"id":"1","type":"t","state":"asleep"})", read_job), "");
    EXPECT_NE(problem(R"({"id":1,"type":"t","state":"queued"})", read_job), "");
    EXPECT_NE(problem(R"({"id":"1","type":"t","state":"queued","run_after":"soon"})", read_job),
              "");
    EXPECT_NE(problem(R"({"jobs":{}})",
                      [](JsonReader& in) { return read_list<Job>(in, "jobs", read_job); }),
              "");
    EXPECT_NE(problem("{}", [](JsonReader& in) { return read_list<Job>(in, "jobs", read_job); }),
              "");
}

TEST(JobJson, ReadsLogLinesAndEvents) {
    const LogLine line =
        read(R"({"seq":3,"attempt":1,"level":"warn","message":"a\nb","data":[1, 2],)"
             R"("timestamp":"2026-11-15T04:11:02.922Z","new":1})",
             read_log_line);
    const Event event = read(
        R"({"seq":2,"type":"claimed","from":"queued","to":"running","attempt":1,"lease_id":"x",)"
        R"("actor":"w","at":"2026-11-15T04:11:02.922Z","detail":null,"hash":"ff"})",
        read_event);

    EXPECT_EQ(line.seq, 3);
    EXPECT_EQ(line.level, Level::warn);
    EXPECT_EQ(line.message, "a\nb");
    EXPECT_EQ(line.data, "[1, 2]");
    EXPECT_EQ(event.type, "claimed");
    EXPECT_EQ(event.from, "queued");
    EXPECT_EQ(event.to, "running");
    EXPECT_EQ(event.detail, "");
    EXPECT_EQ(event.hash, "ff");
    EXPECT_EQ(event.at, line.at);
}

TEST(JobJson, ReadsExplanationsAndWorkers) {
    const Explanation explanation =
        read(R"({"state":"queued","reasons":[{"code":"exclusive_key","detail":"d",)"
             R"("blocker":{"kind":"job","id":"7"},"until":null},{"code":"ready","detail":"",)"
             R"("blocker":null,"until":"2026-11-15T04:11:02.922Z"}]})",
             read_explanation);
    const WorkerSeen worker =
        read(R"({"worker_id":"w","tenant":"default","queues":["a"],"types":[],"labels":["x"],)"
             R"("waiting":true,"last_claim":null,"jobs":["1","2"]})",
             read_worker);

    ASSERT_EQ(explanation.reasons.size(), 2u);
    EXPECT_EQ(explanation.reasons[0].blocker, "7");
    EXPECT_EQ(explanation.reasons[0].blocker_kind, "job");
    EXPECT_EQ(explanation.reasons[1].blocker, "");
    EXPECT_TRUE(explanation.reasons[1].until);
    EXPECT_TRUE(worker.waiting);
    EXPECT_EQ(worker.jobs.size(), 2u);
    EXPECT_EQ(worker.last_claim, std::nullopt);
}

TEST(JobJson, WritesOnlyWhatIsAskedFor) {
    std::string small;
    std::string large;
    JsonWriter json_small(small);
    JsonWriter json_large(large);
    NewJob job;
    job.type = "t";

    write_new_job(json_small, job, "", "");
    job.payload = " {\"a\" : 1} ";
    job.priority = 0;
    job.delay = Millis(5);
    job.timeout = Millis(0);
    job.max_attempts = 2;
    job.run_after = parse_rfc3339("2026-11-15T04:11:02.922Z");
    job.labels = {"x", "y"};
    write_new_job(json_large, job, "acme", "");

    EXPECT_EQ(small, R"({"type":"t","payload":null})");
    EXPECT_EQ(large, R"({"type":"t","payload": {"a" : 1} ,"tenant":"acme","priority":0,)"
                     R"("run_after":"2026-11-15T04:11:02.922Z","delay_ms":5,"timeout_ms":0,)"
                     R"("max_attempts":2,"labels":["x","y"]})");
}

TEST(JobJson, RefusesAPayloadThatIsNotJson) {
    for (const char* payload : {"", "{", "hello", "1 2", "1,\"type\":\"other\""}) {
        std::string out;
        JsonWriter json(out);
        NewJob job;
        job.type = "t";
        job.payload = payload;
        try {
            write_new_job(json, job, "", "/jobs/3");
            ADD_FAILURE() << payload;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            EXPECT_EQ(error.pointer(), "/jobs/3/payload");
        }
    }
}

}  // namespace job_json_test
}  // namespace sluice::client
