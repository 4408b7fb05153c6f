#include "application/leases/append_logs.hpp"

#include <gtest/gtest.h>

#include "support/test_engine.hpp"

namespace sluice {
namespace append_logs_test {

using namespace std::chrono_literals;

LogEntry entry(std::string message, std::optional<std::int64_t> line = std::nullopt) {
    return {.message = std::move(message), .line = line};
}

AppendLogs lines(const Job& job, std::vector<LogEntry> entries) {
    return {.lease = lease_of(job), .entries = std::move(entries)};
}

std::vector<std::string> messages(const std::vector<LogLine>& logs) {
    std::vector<std::string> found;
    for (const LogLine& line : logs) found.push_back(line.message);
    return found;
}

using Messages = std::vector<std::string>;

TEST(AppendLogs, NumbersLinesWithoutGaps) {
    TestEngine engine;
    const Job job = engine.start(spec());

    const auto first = engine.ask(lines(job, {entry("a"), entry("b")}));
    const auto second = engine.ask(lines(job, {entry("c")}));

    EXPECT_EQ(first->last_seq, 2);
    EXPECT_EQ(first->stored, 2);
    EXPECT_EQ(second->last_seq, 3);
    const auto logs = engine.logs(job.spec->id);
    ASSERT_EQ(messages(logs), (Messages{"a", "b", "c"}));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(logs[i].seq, std::int64_t(i) + 1);
    EXPECT_EQ(engine.find(job.spec->id).now.log_seq, 3);
}

TEST(AppendLogs, KeepsWhatTheWorkerSaid) {
    TestEngine engine;
    const Job job = engine.start(spec());
    engine.advance(3s);

    (void)engine.ask(lines(
        job,
        {{.level = LogLevel::error, .message = unusual_text, .data = R"({"n": 1})", .at = at(-5)},
         entry("without a time")}));

    const auto logs = engine.logs(job.spec->id);
    EXPECT_EQ(logs[0].level, LogLevel::error);
    EXPECT_EQ(logs[0].message, unusual_text);
    EXPECT_EQ(logs[0].data, R"({"n": 1})");
    EXPECT_EQ(logs[0].at, at(-5));
    EXPECT_EQ(logs[0].attempt, 1);
    EXPECT_EQ(logs[1].at, at(3));
}

TEST(AppendLogs, GoesOnCountingInTheNextAttempt) {
    TestEngine engine;
    JobSpec twice = spec();
    twice.max_attempts = 2;
    const Job first = engine.start(twice);
    (void)engine.ask(lines(first, {entry("a", 1), entry("b", 2)}));
    engine.report(first, Outcome::failed);
    const Job second = engine.claim_one();

    const auto answer = engine.ask(lines(second, {entry("c", 1)}));

    EXPECT_EQ(answer->last_seq, 3);
    EXPECT_EQ(answer->stored, 1);
    EXPECT_EQ(engine.logs(first.spec->id).back().attempt, 2);
}

TEST(AppendLogs, PlacesLinesAndEventsOnOneSequence) {
    TestEngine engine;
    JobSpec twice = spec();
    twice.max_attempts = 2;
    const Job first = engine.start(twice);
    (void)engine.ask(lines(first, {entry("a"), entry("b")}));
    engine.report(first, Outcome::failed);
    const Job second = engine.claim_one();
    (void)engine.ask(lines(second, {entry("c")}));
    engine.report(second, Outcome::succeeded);

    std::vector<std::int64_t> positions;
    for (const Event& event : engine.events(first.spec->id)) positions.push_back(event.position());
    for (const LogLine& line : engine.logs(first.spec->id)) positions.push_back(line.position());

    // submitted, claimed, a, b, retried, claimed, c, succeeded
    EXPECT_EQ(positions, (std::vector<std::int64_t>{1, 2, 5, 6, 8, 3, 4, 7}));
}

TEST(AppendLogs, StoresALineOfItsOwnNumberOnce) {
    TestEngine engine;
    const Job job = engine.start(spec());
    (void)engine.ask(lines(job, {entry("a", 1), entry("b", 2)}));

    const auto repeat = engine.ask(lines(job, {entry("a", 1), entry("b", 2)}));
    const auto overlap = engine.ask(lines(job, {entry("b", 2), entry("c", 3)}));

    EXPECT_EQ(repeat->stored, 0);
    EXPECT_EQ(repeat->last_seq, 2);
    EXPECT_EQ(overlap->stored, 1);
    EXPECT_EQ(messages(engine.logs(job.spec->id)), (Messages{"a", "b", "c"}));
}

TEST(AppendLogs, AllowsGapsInTheWorkersNumbers) {
    TestEngine engine;
    const Job job = engine.start(spec());

    const auto answer = engine.ask(lines(job, {entry("a", 10), entry("b", 20), entry("late", 15)}));

    EXPECT_EQ(answer->stored, 2);
    EXPECT_EQ(engine.logs(job.spec->id).back().seq, 2);
}

TEST(AppendLogs, StoresAMarkedBatchOnce) {
    TestEngine engine;
    const Job job = engine.start(spec());
    AppendLogs batch = lines(job, {entry("a"), entry("b")});
    batch.batch_mark = 77;
    (void)engine.ask(batch);

    const auto repeat = engine.ask(batch);
    batch.batch_mark = 78;
    const auto next = engine.ask(batch);

    EXPECT_EQ(repeat->stored, 0);
    EXPECT_EQ(repeat->last_seq, 2);
    EXPECT_EQ(next->stored, 2);
}

TEST(AppendLogs, StoresEqualLinesWithoutNumberOrMarkAgain) {
    TestEngine engine;
    const Job job = engine.start(spec());

    (void)engine.ask(lines(job, {entry("tick")}));
    (void)engine.ask(lines(job, {entry("tick")}));

    EXPECT_EQ(engine.logs(job.spec->id).size(), 2u);
}

TEST(AppendLogs, UnderAStaleLeaseIsRefusedAndChangesNothing) {
    TestEngine engine;
    const Job old = engine.start(spec());
    engine.hand_back(old);
    const Job current = engine.claim_one();

    const auto answer = engine.ask(lines(old, {entry("zombie")}));

    EXPECT_EQ(refusal(answer), ErrorCode::lease_lost);
    EXPECT_TRUE(engine.logs(old.spec->id).empty());
    EXPECT_EQ(engine.find(old.spec->id), current);
}

TEST(AppendLogs, AfterTheEndOfTheLeaseIsRefused) {
    TestEngine engine;
    const Job job = engine.start(spec());
    engine.report(job, Outcome::succeeded);

    EXPECT_EQ(refusal(engine.ask(lines(job, {entry("late")}))), ErrorCode::lease_lost);
}

TEST(AppendLogs, IsAllowedWhileTheWorkerOfACanceledJobStops) {
    TestEngine engine;
    const Job job = engine.start(spec());
    engine.cancel(job.spec->id);

    const auto answer = engine.ask(lines(job, {entry("cleaning up")}));
    engine.report(job, Outcome::canceled);

    EXPECT_TRUE(answer);
    EXPECT_EQ(engine.find(job.spec->id).now.log_seq, 1);
    EXPECT_EQ(engine.events(job.spec->id).back().log_seq, 1);
}

TEST(AppendLogs, TakesTwoBatchesForOneJobInOneCommit) {
    TestEngine engine;
    const Job job = engine.start(spec());
    Batch batch;
    const auto first = put(batch, lines(job, {entry("a", 1), entry("b", 2)}));
    const auto second = put(batch, lines(job, {entry("b", 2), entry("c", 3)}));

    const Engine::Ran ran = engine.run(batch);

    EXPECT_EQ((**first)->last_seq, 2);
    EXPECT_EQ((**second)->last_seq, 3);
    EXPECT_EQ((**second)->stored, 1);
    EXPECT_EQ(messages(engine.logs(job.spec->id)), (Messages{"a", "b", "c"}));
    EXPECT_EQ(ran.counts.log_lines, 3);
}

TEST(AppendLogs, TakesAnEmptyBatch) {
    TestEngine engine;
    const Job job = engine.start(spec());

    const auto answer = engine.ask(lines(job, {}));

    EXPECT_EQ(answer->last_seq, 0);
    EXPECT_EQ(answer->stored, 0);
}

}  // namespace append_logs_test
}  // namespace sluice
