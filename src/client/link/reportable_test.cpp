#include "client/link/reportable.hpp"

#include <gtest/gtest.h>

#include "json/json_reader.hpp"

namespace sluice::client {
namespace reportable_test {

using namespace std::string_literals;

TEST(CleanText, LeavesGoodTextAlone) {
    EXPECT_EQ(clean_text("grün \n\t", 100), "grün \n\t");
    EXPECT_EQ(clean_text("", 100), "");
}

TEST(CleanText, ReplacesWhatIsNoTextAndLeavesOutNul) {
    EXPECT_EQ(clean_text("a\0b"s, 100), "ab");
    EXPECT_EQ(clean_text("a\xFF\xFE", 100), "a\uFFFD\uFFFD");
    EXPECT_EQ(clean_text("cut \xC3", 100), "cut \uFFFD");
}

TEST(CleanText, CutsBetweenCharacters) {
    EXPECT_EQ(clean_text("aaaä", 4), "aaa");
    EXPECT_EQ(clean_text("aaaä", 5), "aaaä");
    EXPECT_EQ(clean_text("\xFF\xFF", 5), "\uFFFD");
}

TEST(CleanLogData, KeepsJsonAsItIs) {
    EXPECT_EQ(clean_log_data(R"({ "a": [1, 2] })"), R"({ "a": [1, 2] })");
    EXPECT_EQ(clean_log_data(""), "");
}

TEST(CleanLogData, MakesAStringOfAnythingElse) {
    EXPECT_EQ(clean_log_data("say \"hi\""), R"("say \"hi\"")");
    const std::string worst = clean_log_data(std::string(200'000, '\x01'));
    EXPECT_LE(worst.size(), text_limits::log_data);
    JsonReader reader(worst);
    reader.raw();
    EXPECT_TRUE(reader.finish());
}

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

// The engine reads 32 levels of a whole call.
TEST(CleanLogData, MakesAStringOfWhatIsTooDeep) {
    EXPECT_EQ(clean_log_data(nested(29)), nested(29));
    EXPECT_EQ(clean_log_data(nested(30)), '"' + nested(30) + '"');
}

TEST(Reportable, AResultIsAsDeepAsTheEngineReadsInsideAReport) {
    EXPECT_EQ(reportable(Outcome::succeeded(nested(31))).result, nested(31));
    EXPECT_EQ(reportable(Outcome::succeeded(nested(32))).error_code, "INVALID_RESULT");
}

// Failures of some types must have a code and a message.
TEST(Reportable, AFailureAlwaysHasACodeAndAMessage) {
    const Outcome silent = reportable(Outcome::failed("", "\0"s));
    EXPECT_EQ(silent.error_code, "WORKER_FAILED");
    EXPECT_EQ(silent.error_message, "the worker gave no reason");
    const Outcome told = reportable(Outcome::failed("E", "why"));
    EXPECT_EQ(told.error_code, "E");
    EXPECT_EQ(told.error_message, "why");
    EXPECT_EQ(reportable(Outcome::canceled()).error_code, "");
}

TEST(Reportable, CutsErrorTexts) {
    const Outcome outcome =
        reportable(Outcome::failed(std::string(300, 'C'), std::string(20'000, 'm')));

    EXPECT_EQ(outcome.error_code.size(), 200u);
    EXPECT_EQ(outcome.error_message.size(), 16u * 1024);
    EXPECT_TRUE(outcome.retryable);
}

TEST(Reportable, AResultThatTheEngineWouldRefuseIsAFailureForGood) {
    const std::string large = "\"" + std::string(256 * 1024, 'x') + "\"";
    for (const std::string& result : {"{"s, "1 2"s, "\xFF"s, large}) {
        const Outcome outcome = reportable(Outcome::succeeded(result));
        EXPECT_EQ(outcome.kind, Outcome::Kind::failed);
        EXPECT_EQ(outcome.error_code, "INVALID_RESULT");
        EXPECT_FALSE(outcome.retryable);
        EXPECT_TRUE(outcome.result.empty());
    }
    EXPECT_EQ(reportable(Outcome::succeeded(" [1] ")).result, " [1] ");
}

}  // namespace reportable_test
}  // namespace sluice::client
