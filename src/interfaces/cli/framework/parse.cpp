// The only file that knows CLI11, whose header takes seconds to compile: the tree of commands
// becomes one of CLI11's, which reads the words and writes --help.
#include "interfaces/cli/framework/parse.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <type_traits>

#include "domain/values/suggestion.hpp"
#include "interfaces/cli/terminal/display_text.hpp"
#include "interfaces/cli/terminal/exit_code.hpp"

namespace sluice::cli {
namespace {

CLI::Option* bind(CLI::App& app, const Option& option) {
    const std::string names = fmt::format("{}", fmt::join(option.names, ","));
    return std::visit(
        [&](const auto& target) {
            using Kind = std::decay_t<decltype(target)>;
            if constexpr (std::is_same_v<Kind, HelpFlag>) {
                return app.set_help_flag(names, option.help);
            } else if constexpr (std::is_same_v<Kind, VersionFlag>) {
                return app.set_version_flag(names, target.text, option.help);
            } else if constexpr (std::is_same_v<Kind, bool*>) {
                return app.add_flag(names, *target, option.help);
            } else {
                return app.add_option(names, *target, option.help)->type_name(option.value_name);
            }
        },
        option.target);
}

void fill(CLI::App& app, const Command& command) {
    app.set_help_flag();  // else it comes from the command above
    for (const Option& flag : command.flags()) {
        CLI::Option* bound =
            bind(app, flag)->envname(flag.variable)->default_str(flag.default_text);
        if (flag.is_list()) bound->allow_extra_args(false);
        if (!flag.heading.empty()) bound->group(flag.heading);
    }
    for (const Option& argument : command.arguments()) {
        bind(app, argument)->required(argument.is_required);
    }
    app.footer(command.footer());
    if (command.is_hidden()) app.group("");
    if (!command.commands().empty()) app.require_subcommand(1);
    for (const Command& sub : command.commands()) {
        fill(*app.add_subcommand(sub.name(), sub.summary()), sub);
    }
}

// The innermost command that was named, in both trees.
struct Named {
    const CLI::App* app;
    const Command* command;
};

Named innermost(Named outer) {
    const auto named = outer.app->get_subcommands();
    if (named.empty()) return outer;
    return innermost({named.front(), outer.command->find_command(named.front()->get_name())});
}

// Moves the words that the command keeps as they stand to the command's own list.
void take_rest(const Command& program, std::vector<std::string>& words) {
    const Command* command = words.empty() ? nullptr : program.find_command(words.front());
    if (!command || !command->rest()) return;
    const std::string& mark = command->rest_mark();
    auto rest = words.begin() + 1;
    if (!mark.empty()) {
        rest = std::find_if(rest, words.end(),
                            [&](const std::string& word) { return word == "--" || word == mark; });
        if (rest == words.end()) return;
        if (*rest == mark && rest + 1 != words.end() && rest[1] == "--") words.erase(rest + 1);
        *rest++ = mark;
    }
    command->rest()->assign(rest, words.end());
    words.erase(rest, words.end());
}

std::string unknown_flag(const Command& command, const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    std::vector<std::string> known;
    for (const Option& flag : command.flags()) {
        std::copy_if(flag.names.begin(), flag.names.end(), std::back_inserter(known),
                     [](const std::string& any) { return any.starts_with("--"); });
    }
    const std::string* meant = nearest(name, known);
    return fmt::format("\"{}\" has no flag {}{}", command.path(), printable(name),
                       meant ? fmt::format("; did you mean \"{}\"?", *meant) : "");
}

std::string unknown_command(const Command& command, const std::string& word) {
    std::vector<std::string> known;
    for (const Command* sub : command.visible_commands()) known.push_back(sub->name());
    return fmt::format("there is no command \"{} {}\"; {}", command.path(), printable(word),
                       suggestion(word, known));
}

std::string what_is_wrong(const Command& command, const std::vector<std::string>& words,
                          std::string text) {
    const auto flag = std::find_if(words.begin(), words.end(), [](const std::string& word) {
        return word.size() > 1 && word.starts_with('-');
    });
    if (flag != words.end() && words.front() == *flag) return unknown_flag(command, *flag);
    if (!words.empty() && !command.visible_commands().empty()) {
        return unknown_command(command, words.front());
    }
    if (!words.empty() && !command.rest_mark().empty()) {
        return fmt::format("\"{}\" is not a flag; write {} before the command",
                           printable(words.front()), command.rest_mark());
    }
    if (flag != words.end()) return unknown_flag(command, *flag);
    if (!words.empty()) {
        return fmt::format("\"{}\" takes no further argument \"{}\"", command.path(),
                           printable(words.front()));
    }
    constexpr std::string_view conversion = "Could not convert: ";
    if (text.starts_with(conversion)) {
        text = fmt::format("{} is not a value that it takes", text.substr(conversion.size()));
    }
    return printable(text);
}

}  // namespace

Parsed parse(const Command& program, std::vector<std::string> words) {
    CLI::App app{program.summary(), program.name()};
    fill(app, program);
    try {
        take_rest(program, words);
        std::reverse(words.begin(), words.end());  // as CLI11 wants them
        app.parse(std::move(words));
        return {.command = innermost({&app, &program}).command};
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return {.exit_code = app.exit(error)};
        const auto [named, command] = innermost({&app, &program});
        const std::vector<std::string> remaining = named->remaining();
        if (remaining.empty() && !command->visible_commands().empty()) {
            std::cerr << named->help();
        } else {
            fmt::print(stderr, "sluice: {} (see: {} --help)\n",
                       what_is_wrong(*command, remaining, error.what()), command->path());
        }
        return {.exit_code = exit_usage};
    }
}

}  // namespace sluice::cli
