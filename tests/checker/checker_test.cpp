// The checker as a whole: a clean run passes, and lines that it cannot read and rules without a
// case are reported. That each broken invariant is noticed: see the tests of the rules beside this
// one.
#include <gtest/gtest.h>

#include <sstream>

#include "checker/story.hpp"

namespace sluice::checker {
namespace checker_test {

using Ids = std::vector<std::string>;

TEST(Checker, FindsNothingInACleanRun) {
    const Verdict verdict = clean_story().judge();

    EXPECT_TRUE(verdict.is_clean()) << verdict.table();
    // An order is promised by stores of a single node alone.
    EXPECT_EQ(verdict.unlooked(), Ids{"I17b"}) << verdict.table();
}

TEST(Checker, SaysWhatItHasNotLookedAt) {
    Story story;
    story.cancel(story.submit());

    const Verdict verdict = story.judge();

    EXPECT_TRUE(verdict.is_clean()) << verdict.table();
    const Ids unlooked = verdict.unlooked();
    EXPECT_NE(std::find(unlooked.begin(), unlooked.end(), "I11"), unlooked.end());
    EXPECT_NE(verdict.table().find("looked at nothing"), std::string::npos);
}

TEST(Checker, CountsWhatItSaw) {
    const Verdict verdict = clean_story().judge();

    const std::map<std::string, std::size_t> counts(verdict.counts.begin(), verdict.counts.end());
    EXPECT_EQ(counts.at("operations"), 72u);
    EXPECT_EQ(counts.at("  claim, ok"), 17u);
    EXPECT_EQ(counts.at("jobs"), 16u);
    EXPECT_EQ(counts.at("  timed_out"), 1u);
}

TEST(Checker, NamesTheJobThatBreaksAnInvariant) {
    Story story = clean_story();
    const std::string id = story.jobs.begin()->first;
    story.jobs.begin()->second.fields["state"] = "failed";

    const std::string table = story.judge().table();

    EXPECT_NE(table.find("I3 " + id), std::string::npos) << table;
    EXPECT_NE(table.find("BROKEN"), std::string::npos) << table;
}

TEST(Checker, NamesALineThatItCannotRead) {
    std::stringstream record("{\"op\":\"read\",\"outcome\":\"ok\"}\n{\"op\":\n");
    std::stringstream history;

    try {
        read_evidence(record, history);
        FAIL() << "it was read";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("record line 2"), std::string::npos);
    }
}

TEST(Checker, RefusesAHistoryThatListsAJobTwiceOrNotAtAll) {
    const std::string job = R"({"kind":"job","job":{"id":"a","state":"queued"}})";
    std::stringstream record;
    std::stringstream twice(job + "\n" + job + "\n");
    std::stringstream without(R"({"kind":"log","job_id":"b","log":{"seq":1}})");

    EXPECT_THROW(read_evidence(record, twice), std::runtime_error);
    EXPECT_THROW(read_evidence(record, without), std::runtime_error);
}

TEST(Checker, ReadsTimesToTheMillisecond) {
    EXPECT_EQ(parse_time("1970-01-02T00:00:01.250Z"),
              Time(std::chrono::hours(24) + std::chrono::milliseconds(1250)));
    EXPECT_THROW(parse_time("yesterday"), std::runtime_error);
}

TEST(Checker, TakesItsLimitsFromTheRecord) {
    Story story;
    story.cancel(story.submit());
    story.record.push_back({{"op", "plan"},
                            {"outcome", "ok"},
                            {"args", Fields{{"slack_ms", 70},
                                            {"clocks_ms", 30},
                                            {"starts_renew_leases", true},
                                            {"clock_steps", false},
                                            {"strict_order", true}}}});
    std::stringstream record;
    for (const Fields& line : story.record) record << serialize(line) << '\n';
    std::stringstream history;

    const Limits limits = limits_of(read_evidence(record, history));

    EXPECT_EQ(limits.slack, std::chrono::milliseconds(70));
    EXPECT_EQ(limits.clocks, std::chrono::milliseconds(30));
    EXPECT_TRUE(limits.starts_renew_leases);
    EXPECT_TRUE(limits.strict_order);
    EXPECT_EQ(limits.judges, std::chrono::milliseconds(30));
}

}  // namespace checker_test
}  // namespace sluice::checker
