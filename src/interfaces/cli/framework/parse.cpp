// The only file that knows CLI11, whose header takes seconds to compile: the tree of commands
// becomes one of CLI11's, which reads the words and writes --help.
#include "interfaces/cli/framework/parse.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
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
                return app.add_option(names, *target, option.help)
                    ->type_name(option.value_name)
                    ->each([name = option.main_name()](const std::string& value) {
                        if (value.empty()) throw CLI::ConversionError(name + " must not be empty");
                    });
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
        if (!flag.excludes.empty()) bound->excludes(app.get_option(flag.excludes));
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

// CLI11 would take the next word for the value of "--flag=".
void split_empty_values(std::vector<std::string>& words) {
    for (auto word = words.begin(); word != words.end(); ++word) {
        if (!word->starts_with("--") || word->find('=') + 1 != word->size()) continue;
        word->pop_back();
        word = words.insert(word + 1, "");
    }
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
    static const std::map<std::string, std::string> synonyms{
        {"retry", "replay"}, {"rerun", "replay"}, {"show", "get"}};
    std::vector<std::string> known;
    for (const Command* sub : command.visible_commands()) known.push_back(sub->name());
    const auto synonym = synonyms.find(word);
    return fmt::format("there is no command \"{} {}\"; {}", command.path(), printable(word),
                       suggestion(synonym == synonyms.end() ? word : synonym->second, known));
}

Parsed refused(const Command& command, const std::string& problem) {
    fmt::print(stderr, "sluice: {} (see: {} --help)\n", problem, command.path());
    return {.exit_code = exit_usage};
}

// CLI11 would pass over a word that names no command, and take a later one for it.
std::optional<Parsed> misnamed(const Command& program, const std::vector<std::string>& words) {
    const Command* command = &program;
    for (const std::string& word : words) {
        if (command->commands().empty() || command->find_flag(word)) break;
        if (word.starts_with('-')) return refused(*command, unknown_flag(*command, word));
        const Command* sub = command->find_command(word);
        if (!sub) return refused(*command, unknown_command(*command, word));
        command = sub;
    }
    return std::nullopt;
}

// CLI11's message in words of ours.
std::string reworded(std::string text) {
    constexpr std::string_view conversion = "Could not convert: ", missing = ": 1 required ",
                               excludes = " excludes ";
    if (text.starts_with(conversion)) {
        text.erase(0, conversion.size());
        return text.replace(text.find(" = "), 3, " must be a whole number, not \"") + '"';
    }
    if (const std::size_t at = text.find(missing); at != std::string::npos) {
        text.resize(text.rfind(' '));
        return text.replace(at, missing.size(), " needs a value: ");
    }
    if (const std::size_t at = text.find(excludes); at != std::string::npos) {
        return text.replace(at, excludes.size(), " and ") + " contradict each other";
    }
    return text;
}

std::string what_is_wrong(const Command& command, const std::vector<std::string>& words,
                          const std::string& text) {
    const auto flag = std::find_if(words.begin(), words.end(), [](const std::string& word) {
        return word.size() > 1 && word.starts_with('-');
    });
    if (!words.empty() && flag != words.begin() && !command.rest_mark().empty()) {
        return fmt::format("\"{}\" is not a flag; write {} before the command",
                           printable(words.front()), command.rest_mark());
    }
    if (flag != words.end()) return unknown_flag(command, *flag);
    if (!words.empty()) {
        return fmt::format("\"{}\" takes no further argument \"{}\"", command.path(),
                           printable(words.front()));
    }
    return printable(reworded(text));
}

}  // namespace

Parsed parse(const Command& program, std::vector<std::string> words) {
    if (!words.empty() && words.front() == "help") {
        words.erase(words.begin());
        words.emplace_back("--help");
    }
    if (const auto refusal = misnamed(program, words)) return *refusal;
    CLI::App app{program.summary(), program.name()};
    fill(app, program);
    try {
        take_rest(program, words);
        split_empty_values(words);
        std::reverse(words.begin(), words.end());  // as CLI11 wants them
        app.parse(std::move(words));
        return {.command = innermost({&app, &program}).command};
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return {.exit_code = app.exit(error)};
        const auto [named, command] = innermost({&app, &program});
        const std::vector<std::string> remaining = named->remaining();
        if (!remaining.empty() || command->visible_commands().empty()) {
            return refused(*command, what_is_wrong(*command, remaining, error.what()));
        }
        std::cerr << app.help();
        return {.exit_code = exit_usage};
    }
}

}  // namespace sluice::cli
