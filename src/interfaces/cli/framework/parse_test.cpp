#include "interfaces/cli/framework/parse.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "interfaces/cli/terminal/exit_code.hpp"

namespace sluice::cli {
namespace {

struct PourFlags {
    std::string drink{};
    std::vector<std::string> guests{};
    bool hot = false;
    bool iced = false;
    int cups = 2;
    std::optional<int> sugar{};
    std::string milk = "none";
    std::optional<std::string> note{};
    std::vector<std::string> extras{};
};

int pour(const PourFlags& flags) {
    return flags.cups;
}

// A program with a command below a group, one that keeps words, one without flags, and a hidden
// one.
class AProgram : public testing::Test {
  protected:
    AProgram() {
        pouring.add_argument("DRINK", &flags.drink, "What to pour");
        pouring.add_argument("GUEST", &flags.guests, "For whom").is_required = false;
        pouring.add_flag("--hot", &flags.hot, "Not cold");
        pouring.add_option("-c,--cups", &flags.cups, "N", "How many");
        pouring.add_option("--sugar", &flags.sugar, "N", "Spoons");
        pouring.begin_heading("Taste");
        pouring.add_option("--milk", &flags.milk, "KIND", "Which milk").variable =
            "SLUICE_TEST_MILK";
        pouring.begin_heading();
        pouring.add_option("--note", &flags.note, "TEXT", "For the waiter");
        pouring.add_option("--extra", &flags.extras, "NAME", "On the plate");
        pouring.set_footer(examples({"bar drink pour tea"}));
        order.add_option("--table", &table, "N", "Where");
        order.add_flag("--dishes", &has_dishes, "What follows are the dishes");
        order.keep_rest(dishes, "--dishes");
        program.add_command("version", "Say the version").runs([] { return 0; });
        program.add_hidden_command("__cellar", "Not for guests").runs([] { return 0; });
    }

    Parsed read(std::vector<std::string> words) {
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        const Parsed parsed = parse(program, std::move(words));
        out = testing::internal::GetCapturedStdout();
        errors = testing::internal::GetCapturedStderr();
        return parsed;
    }

    // The message about words that make no sense.
    std::string refusal(std::vector<std::string> words) {
        const Parsed parsed = read(std::move(words));
        EXPECT_EQ(parsed.command, nullptr);
        EXPECT_EQ(parsed.exit_code, exit_usage);
        EXPECT_EQ(out, "");
        return errors;
    }

    Command program{"bar", "A bar", "bar 1.0"};
    Command& drink = program.add_command("drink", "All about drinks");
    Command& pouring = drink.add_command("pour", "Pour a drink");
    PourFlags& flags = pouring.runs(pour);
    Command& order = program.add_command("order", "Order dishes");
    int table = 0;
    bool has_dishes = false;
    std::vector<std::string> dishes{};
    std::string out{};
    std::string errors{};
};

using Words = std::vector<std::string>;

TEST_F(AProgram, GivesEachKindOfOptionItsValue) {
    const Parsed parsed =
        read({"drink", "pour", "tea", "ada", "--hot", "-c", "3", "--sugar=-1", "--milk", "oat",
              "--note", "hot", "--extra", "nut", "--extra=fig", "grace"});

    ASSERT_EQ(parsed.command, &pouring);
    EXPECT_EQ(parsed.command->action()(), 3);
    EXPECT_EQ(flags.drink, "tea");
    EXPECT_EQ(flags.guests, (Words{"ada", "grace"}));
    EXPECT_TRUE(flags.hot);
    EXPECT_EQ(flags.sugar, -1);
    EXPECT_EQ(flags.milk, "oat");
    EXPECT_EQ(flags.note, "hot");
    EXPECT_EQ(flags.extras, (Words{"nut", "fig"}));
}

TEST_F(AProgram, LeavesAsTheyAreTheOptionsThatAreNotGiven) {
    ASSERT_EQ(read({"drink", "pour", "tea"}).command, &pouring);

    EXPECT_EQ(flags.cups, 2);
    EXPECT_FALSE(flags.hot);
    EXPECT_EQ(flags.sugar, std::nullopt);
    EXPECT_EQ(flags.note, std::nullopt);
    EXPECT_EQ(flags.milk, "none");
    EXPECT_TRUE(flags.guests.empty());
}

TEST_F(AProgram, TakesAVariableOnlyWhenThereIsNoFlag) {
    ::setenv("SLUICE_TEST_MILK", "soy", 1);
    read({"drink", "pour", "tea"});
    EXPECT_EQ(flags.milk, "soy");
    read({"drink", "pour", "tea", "--milk", "oat"});
    EXPECT_EQ(flags.milk, "oat");
    ::unsetenv("SLUICE_TEST_MILK");
}

TEST_F(AProgram, RefusesWordsThatMakeNoSense) {
    const std::string see = " (see: bar drink pour --help)\n";
    EXPECT_EQ(refusal({"drink", "pour"}), "sluice: DRINK is required" + see);
    EXPECT_EQ(refusal({"drink", "pour", "tea", "--cups"}), "sluice: --cups needs a value: N" + see);
    EXPECT_EQ(refusal({"drink", "pour", "tea", "--cups", "few"}),
              "sluice: --cups must be a whole number, not \"few\"" + see);
    EXPECT_EQ(refusal({"drink", "pour", "tea", "--sugar", "a = b"}),
              "sluice: --sugar must be a whole number, not \"a = b\"" + see);
    EXPECT_EQ(refusal({"version", "--hot"}),
              "sluice: \"bar version\" has no flag --hot (see: bar version --help)\n");
    EXPECT_EQ(refusal({"version", "now"}),
              "sluice: \"bar version\" takes no further argument \"now\" "
              "(see: bar version --help)\n");
}

TEST_F(AProgram, RefusesEmptyValuesOfEveryKind) {
    const std::vector<std::pair<Words, std::string>> cases{
        {{""}, "DRINK"},
        {{"tea", "ada", ""}, "GUEST"},
        {{"tea", "--cups", ""}, "--cups"},
        {{"tea", "-c", ""}, "--cups"},
        {{"tea", "--sugar="}, "--sugar"},
        {{"tea", "--note=", "--hot"}, "--note"},
        {{"tea", "--milk", ""}, "--milk"},
        {{"tea", "--note", ""}, "--note"},
        {{"tea", "--extra", "nut", "--extra", ""}, "--extra"},
    };
    for (const auto& [more, name] : cases) {
        Words words{"drink", "pour"};
        words.insert(words.end(), more.begin(), more.end());
        EXPECT_EQ(refusal(words),
                  "sluice: " + name + " must not be empty (see: bar drink pour --help)\n");
    }
    ::setenv("SLUICE_TEST_MILK", "", 1);
    EXPECT_EQ(read({"drink", "pour", "tea"}).command, &pouring) << "an empty variable is not set";
    ::unsetenv("SLUICE_TEST_MILK");
}

TEST_F(AProgram, NamesTheNearestFlagOrCommand) {
    EXPECT_EQ(refusal({"drink", "pour", "tea", "--cusp=3"}),
              "sluice: \"bar drink pour\" has no flag --cusp; did you mean \"--cups\"? "
              "(see: bar drink pour --help)\n");
    EXPECT_EQ(refusal({"drink", "pour", "tea", "--whisky"}),
              "sluice: \"bar drink pour\" has no flag --whisky (see: bar drink pour --help)\n");
    EXPECT_EQ(refusal({"drink", "puor"}),
              "sluice: there is no command \"bar drink puor\"; did you mean \"pour\"? "
              "(see: bar drink --help)\n");
    EXPECT_EQ(refusal({"__celar"}).find("__cellar"), std::string::npos);
}

TEST_F(AProgram, NamesAnUnknownWordAlsoBeforeAKnownOne) {
    EXPECT_EQ(refusal({"drnk", "version"}),
              "sluice: there is no command \"bar drnk\"; did you mean \"drink\"? "
              "(see: bar --help)\n");
    EXPECT_EQ(refusal({"drink", "--hto", "pour"}),
              "sluice: \"bar drink\" has no flag --hto (see: bar drink --help)\n");
}

TEST_F(AProgram, RefusesFlagsThatContradictEachOther) {
    pouring.add_flag("--iced", &flags.iced, "Very cold").excludes = "--hot";
    EXPECT_EQ(read({"drink", "pour", "tea", "--iced"}).command, &pouring);
    EXPECT_EQ(refusal({"drink", "pour", "tea", "--iced", "--hot"}),
              "sluice: --hot and --iced contradict each other (see: bar drink pour --help)\n");
}

TEST_F(AProgram, ShowsItsCommandsWhenNoneIsNamed) {
    EXPECT_NE(refusal({"drink"}).find("pour"), std::string::npos);
    EXPECT_NE(errors.find("Usage: bar drink [OPTIONS] SUBCOMMAND"), std::string::npos) << errors;
    EXPECT_NE(refusal({}).find("order"), std::string::npos);
    EXPECT_EQ(errors.find("__cellar"), std::string::npos);
}

TEST_F(AProgram, AnswersHelpAndVersionItself) {
    EXPECT_EQ(read({"--version"}).command, nullptr);
    EXPECT_EQ(out, "bar 1.0\n");
    const Parsed parsed = read({"drink", "pour", "--help"});
    EXPECT_EQ(parsed.command, nullptr);
    EXPECT_EQ(parsed.exit_code, exit_ok);
    EXPECT_EQ(out, R"(Pour a drink
Usage: bar drink pour [OPTIONS] DRINK [GUEST...]

Positionals:
  DRINK REQUIRED              What to pour
  GUEST ...                   For whom

Options:
  -h,--help                   Print this help message and exit
  --hot                       Not cold
  -c,--cups N=2               How many
  --sugar N                   Spoons
  --note TEXT                 For the waiter
  --extra NAME ...            On the plate


Taste:
  --milk KIND=none (Env:SLUICE_TEST_MILK)
                              Which milk

Examples:
  bar drink pour tea

)");
    const std::string help = out;
    EXPECT_EQ(read({"help", "drink", "pour"}).exit_code, exit_ok);
    EXPECT_EQ(out, help);
    EXPECT_EQ(read({"help"}).exit_code, exit_ok);
    EXPECT_NE(out.find("Usage: bar [OPTIONS] SUBCOMMAND"), std::string::npos) << out;
    EXPECT_NE(refusal({"help", "drnk"}).find("did you mean \"drink\"?"), std::string::npos);
}

TEST_F(AProgram, KeepsTheRestAsItStands) {
    for (const char* mark : {"--dishes", "--"}) {
        ASSERT_EQ(read({"order", "--table", "9", mark, "soup", "--help", "--", "-x"}).command,
                  &order);
        EXPECT_TRUE(has_dishes);
        EXPECT_EQ(table, 9);
        EXPECT_EQ(dishes, (Words{"soup", "--help", "--", "-x"}));
    }
    read({"order", "--dishes", "--", "soup"});
    EXPECT_EQ(dishes, Words{"soup"});
    EXPECT_EQ(refusal({"order", "soup", "--table", "3"}),
              "sluice: \"soup\" is not a flag; write --dishes before the command "
              "(see: bar order --help)\n");
    EXPECT_EQ(refusal({"order", "--tabel=3", "--", "soup"}),
              "sluice: \"bar order\" has no flag --tabel; did you mean \"--table\"? "
              "(see: bar order --help)\n");
}

}  // namespace
}  // namespace sluice::cli
