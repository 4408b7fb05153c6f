#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "domain/suggestion.hpp"
#include "interfaces/cli/cli.hpp"
#include "interfaces/cli/command_path.hpp"
#include "interfaces/cli/display_text.hpp"

namespace sluice::cli {
namespace {

// The innermost command that was named.
const CLI::App& chosen_command(const CLI::App& app) {
    const auto named = app.get_subcommands();
    return named.empty() ? app : chosen_command(*named.front());
}

std::string unknown_flag(const CLI::App& command, const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    std::vector<std::string> known;
    for (const CLI::Option* flag : visible_flags(command)) {
        for (const std::string& long_name : flag->get_lnames()) known.push_back("--" + long_name);
    }
    const std::string* meant = nearest(name, known);
    return fmt::format("\"{}\" has no flag {}{}", command_path(command), printable(name),
                       meant ? fmt::format("; did you mean \"{}\"?", *meant) : "");
}

std::string unknown_command(const CLI::App& command, const std::string& word) {
    std::vector<std::string> known;
    for (const CLI::App* sub : visible_commands(command)) known.push_back(sub->get_name());
    return fmt::format("there is no command \"{} {}\"; {}", command_path(command), printable(word),
                       suggestion(word, known));
}

std::string what_is_wrong(const CLI::App& command, const CLI::ParseError& error) {
    const std::vector<std::string> words = command.remaining();
    const auto flag = std::find_if(words.begin(), words.end(), [](const std::string& word) {
        return word.size() > 1 && word.starts_with('-');
    });
    if (flag != words.end() && words.front() == *flag) return unknown_flag(command, *flag);
    if (!words.empty() && !visible_commands(command).empty()) {
        return unknown_command(command, words.front());
    }
    if (flag != words.end()) return unknown_flag(command, *flag);
    if (!words.empty()) {
        return fmt::format("\"{}\" takes no further argument \"{}\"", command_path(command),
                           printable(words.front()));
    }
    constexpr std::string_view conversion = "Could not convert: ";
    std::string text = error.what();
    if (text.starts_with(conversion)) {
        text = fmt::format("{} is not a value that it takes", text.substr(conversion.size()));
    }
    return printable(text);
}

}  // namespace

std::optional<int> parse(CLI::App& app, int argc, const char* const* argv) {
    try {
        std::vector<std::string> words(argv + 1, argv + argc);
        mark_command(words);
        std::reverse(words.begin(), words.end());  // as CLI11 wants them
        app.parse(std::move(words));
        return std::nullopt;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        const CLI::App& command = chosen_command(app);
        if (command.remaining().empty() && !visible_commands(command).empty()) {
            std::cerr << command.help();
            return exit_usage;
        }
        fmt::print(stderr, "sluice: {} (see: {} --help)\n", what_is_wrong(command, error),
                   command_path(command));
        return exit_usage;
    }
}

}  // namespace sluice::cli
