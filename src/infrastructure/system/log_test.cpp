#include "infrastructure/system/log.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace sluice::log {
namespace log_test {

// Prints one message in a process of its own.
void write_and_leave(bool as_json, std::string_view message) {
    open(Level::info, as_json);
    testing::internal::CaptureStdout();
    write(Level::info, message, "");
    std::fflush(stdout);
    const std::string text = testing::internal::GetCapturedStdout();
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::_Exit(0);
}

constexpr std::string_view nasty =
    "job \"a\\b\"\r\nERROR all is lost\x1b[31m\x7f\xC2\x9B"
    "2J \xE2\x80\xAE"
    "txet \xFF end \xC3\xA9";

TEST(Log, TextFromOutsideStaysOnOneLineAndDoesNotSteerTheTerminal) {
    EXPECT_EXIT(write_and_leave(false, nasty), testing::ExitedWithCode(0),
                "info  job \"a\\\\b\"\\\\r\\\\nERROR all is lost\\\\u001b\\[31m\xEF\xBF\xBD\xEF\xBF"
                "\xBD"
                "2J \xEF\xBF\xBDtxet \xEF\xBF\xBD end \xC3\xA9\n$");
}

TEST(Log, AsJsonAMessageIsOneString) {
    EXPECT_EXIT(write_and_leave(true, nasty), testing::ExitedWithCode(0),
                "\"message\":\"job \\\\\"a\\\\\\\\b\\\\\"\\\\r\\\\nERROR all is lost"
                "\\\\u001b\\[31m");
}

}  // namespace log_test
}  // namespace sluice::log
