#include "interfaces/cli/framework/command.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

using Names = std::vector<std::string>;

TEST(Command, IsFoundByItsNameAndKnowsItsPath) {
    Command program("bar", "A bar", "bar 1.0");
    Command& drink = program.add_command("drink", "All about drinks");
    Command& pour = drink.add_command("pour", "Pour a drink");
    program.add_hidden_command("__cellar", "Not for guests");

    EXPECT_EQ(pour.path(), "bar drink pour");
    EXPECT_EQ(pour.parent(), &drink);
    EXPECT_EQ(drink.find_command("pour"), &pour);
    EXPECT_EQ(drink.find_command("puor"), nullptr);
    EXPECT_NE(program.find_command("__cellar"), nullptr);
    EXPECT_EQ(program.visible_commands(), std::vector<const Command*>{&drink});
}

TEST(Command, TellsFlagsFromArguments) {
    bool quiet = false;
    int cups = 2;
    Names guests;
    Command program("bar", "A bar", "bar 1.0");
    program.add_argument("GUEST", &guests, "For whom");
    program.add_flag("-q", &quiet, "Without a word");
    program.begin_heading("Size");
    program.add_option("-c,--cups,--mugs", &cups, "N", "How many");

    ASSERT_EQ(program.arguments().size(), 1u);
    EXPECT_TRUE(program.arguments().front().is_list());
    EXPECT_TRUE(program.arguments().front().is_required);
    ASSERT_EQ(program.flags().size(), 4u);  // with --help and --version
    EXPECT_EQ(program.find_flag("GUEST"), nullptr);
    EXPECT_EQ(program.find_flag("-q")->main_name(), "-q");
    EXPECT_FALSE(program.find_flag("-q")->takes_value());
    EXPECT_FALSE(program.find_flag("--version")->takes_value());
    const Option& size = *program.find_flag("--mugs");
    EXPECT_EQ(&size, program.find_flag("-c"));
    EXPECT_EQ(size.main_name(), "--cups");
    EXPECT_EQ(size.names, (Names{"-c", "--cups", "--mugs"}));
    EXPECT_TRUE(size.takes_value());
    EXPECT_EQ(size.heading, "Size");
    EXPECT_EQ(size.default_text, "2");
}

TEST(Command, HasFlagsOfItsOwn) {
    Command program("bar", "A bar", "bar 1.0");
    int& cups = program.runs(+[](const int& given) { return given; });

    cups = 3;

    EXPECT_EQ(program.action()(), 3);
}

}  // namespace
}  // namespace sluice::cli
