// Log lines in the walk over a job's history: changed, removed, added or damaged ones.
#include <gtest/gtest.h>

#include "application/audit/verify_history.hpp"
#include "support/tampered_reader.hpp"
#include "support/test_engine.hpp"

namespace sluice {
namespace verify_log_test {

using namespace std::chrono_literals;

using Lines = std::vector<LogLine>;
using Tampering = std::function<void(Lines&)>;

// A job that wrote two lines and succeeded, and one that wrote a line and still runs.
struct Logged {
    TestEngine engine;
    JobId ended;
    JobId open;
    TamperedReader reader{engine.store()};

    Logged() {
        const Job first = engine.start(spec());
        ended = first.spec->id;
        write(first, {{.message = "one", .data = R"({"n":1})"}, {.message = "two"}});
        engine.report(first, Outcome::succeeded);
        const Job second = engine.start(spec());
        open = second.spec->id;
        write(second, {{.message = "three"}});
    }

    void write(const Job& job, std::vector<LogEntry> entries) {
        ASSERT_TRUE(engine.ask(AppendLogs{.lease = lease_of(job), .entries = std::move(entries)}));
    }

    // The break that the walk finds when the job's lines are changed so; none: it passes.
    std::optional<HistoryBreak> broken_by(JobId job, Tampering change) {
        reader.change_lines = [job, change](Lines& lines) {
            if (!lines.empty() && lines.front().job == job) change(lines);
        };
        return verify_history(reader).first_break();
    }

    void expect_break(JobId job, Tampering change, const std::string& what) {
        const auto broken = broken_by(job, std::move(change));
        ASSERT_TRUE(broken) << what;
        EXPECT_EQ(broken->job, job);
        EXPECT_NE(broken->what.find(what), std::string::npos) << broken->what;
    }
};

LogLine line_after(const LogLine& last) {
    LogLine more = last;
    ++more.seq;
    return more;
}

TEST(VerifyLog, FindsNothingWrongWithWhatTheEngineWrote) {
    Logged logged;

    const Verification result = verify_history(logged.reader);

    EXPECT_FALSE(result.first_break());
    EXPECT_EQ(result.partly_covered, 0);
}

TEST(VerifyLog, FindsAnyChangeOfALineOfAnEndedAndOfAnOpenJob) {
    const std::pair<const char*, std::function<void(LogLine&)>> changes[] = {
        {"text", [](LogLine& line) { line.message = "none"; }},
        {"level", [](LogLine& line) { line.level = LogLevel::error; }},
        {"time", [](LogLine& line) { line.at += 1us; }},
        {"data", [](LogLine& line) { line.data = R"({"n":2})"; }},
        {"attempt", [](LogLine& line) { ++line.attempt; }},
        {"place", [](LogLine& line) { ++line.event_seq; }},
    };
    for (const auto& [field, change] : changes) {
        Logged logged;
        const auto first = [change = change](Lines& lines) { change(lines.front()); };
        for (const JobId job : {logged.ended, logged.open}) {
            SCOPED_TRACE(field);
            logged.expect_break(job, first, "a log line was changed");
        }
    }
}

TEST(VerifyLog, FindsAMissingLine) {
    Logged logged;
    logged.expect_break(
        logged.ended, [](Lines& lines) { lines.erase(lines.begin()); }, "log line 1 is missing");
    logged.expect_break(
        logged.ended, [](Lines& lines) { lines.pop_back(); }, "log line 2 is missing");
    logged.expect_break(
        logged.open, [](Lines& lines) { lines.pop_back(); }, "log line 1 is missing");
}

TEST(VerifyLog, FindsSwappedLines) {
    Logged logged;
    const auto swap = [](Lines& lines) {
        std::swap(lines[0], lines[1]);
        std::swap(lines[0].seq, lines[1].seq);
    };
    logged.expect_break(logged.ended, swap, "a log line was changed");
}

TEST(VerifyLog, FindsAnAddedLine) {
    Logged logged;
    const auto add = [](Lines& lines) { lines.push_back(line_after(lines.back())); };

    logged.expect_break(logged.ended, add, "the job has 2 log lines, but line 3 is there");
    logged.expect_break(logged.open, add, "the job has 1 log lines, but line 2 is there");
}

TEST(VerifyLog, FindsALineOfAJobThatNeverWroteOne) {
    TestEngine engine;
    const Job job = engine.submit(spec());
    TamperedReader reader(engine.store());
    LogLine added;
    added.job = job.spec->id;
    added.seq = 1;
    reader.change_lines = [&](Lines& lines) { lines.push_back(added); };

    EXPECT_TRUE(verify_history(reader).first_break());
}

TEST(VerifyLog, FindsADamagedLineAndADamagedEvent) {
    Logged logged;
    logged.expect_break(
        logged.ended, [](Lines& lines) { lines[1].damaged = true; }, "log line 2 is damaged");

    logged.reader.change_lines = [](Lines&) {};
    logged.reader.change_events = [&](std::vector<Event>& events) {
        if (events.front().job == logged.ended) events[1].damaged = true;
    };
    const auto broken = verify_history(logged.reader).first_break();
    ASSERT_TRUE(broken);
    EXPECT_EQ(broken->job, logged.ended);
    EXPECT_EQ(broken->seq, 2);
    EXPECT_EQ(broken->what, "the stored event is damaged");
}

TEST(VerifyLog, FindsADigestOfLinesThatWasChangedInTheJob) {
    Logged logged;
    logged.reader.change_job = [](Job& job) { job.now.log_hash = sha256("other"); };

    EXPECT_EQ(verify_history(logged.reader).breaks.size(), 2u);
}

TEST(VerifyHistory, FindsAFormThatThisVersionDoesNotKnow) {
    TestEngine engine;
    engine.submit(spec());
    TamperedReader reader(engine.store());
    reader.change_job = [](Job& job) {
        change_spec(job, [](JobSpec& spec) { spec.history_form = newest_history_form + 1; });
    };

    EXPECT_TRUE(verify_history(reader).first_break());
}

}  // namespace verify_log_test
}  // namespace sluice
