#include "interfaces/worker/leash/command_environment.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace sluice::worker {
namespace command_environment_test {

TEST(CommandEnvironment, HasTheUsualVariablesAndNoOthers) {
    for (const char* name : {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ",
                             "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE"}) {
        EXPECT_TRUE(is_usual_variable(name)) << name;
    }
    for (const char* name : {"", "SLUICE_TOKEN", "SLUICE_STORE", "SLUICE_ADMIN_TOKEN", "PGPASSWORD",
                             "LD_PRELOAD", "SSH_AUTH_SOCK", "http_proxy", "AWS_SECRET_ACCESS_KEY",
                             "NOTIFY_SOCKET", "path", "PATHS"}) {
        EXPECT_FALSE(is_usual_variable(name)) << name;
    }
}

TEST(CommandEnvironment, NamesAreThoseThatShellsTake) {
    for (const char* name : {"A", "_", "a1", "SLUICE_SERVER"}) {
        EXPECT_TRUE(is_variable_name(name)) << name;
    }
    for (const char* name : {"", "1a", "A=", "A-B", "A B", "\xC3\xA9"}) {
        EXPECT_FALSE(is_variable_name(name)) << name;
    }
}

TEST(CommandEnvironment, OfTheNamedVariablesThoseThatAreSetAreFound) {
    ::setenv("COMMAND_ENVIRONMENT_TEST", "a=b c", 1);
    EXPECT_EQ(variables_named({"COMMAND_ENVIRONMENT_TEST", "NO_SUCH_VARIABLE_HERE"}),
              (Variables{{"COMMAND_ENVIRONMENT_TEST", "a=b c"}}));
}

// In processes of their own, since it cannot be taken back.
TEST(HideFromCommands, MovesTheEnvironmentOutOfSight) {
    const auto shown_environment = [] {
        std::ifstream file("/proc/self/environ", std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const char* const path = ::getenv("PATH");
    ASSERT_NE(path, nullptr);
    const std::string value = path;
    ASSERT_NE(shown_environment().find(value), std::string::npos);
    EXPECT_EXIT(
        {
            hide_from_commands();
            const bool is_hidden = shown_environment().find_first_not_of('\0') == std::string::npos;
            std::_Exit(is_hidden && ::getenv("PATH") == value ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

TEST(HideFromCommands, MakesTheProcessOneThatLeavesNoCoreDump) {
    EXPECT_EXIT(
        {
            hide_from_commands();
            std::_Exit(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

}  // namespace command_environment_test
}  // namespace sluice::worker
