#include "interfaces/cli/command_path.hpp"

namespace sluice::cli {

std::string command_path(const CLI::App& command) {
    const CLI::App* parent = command.get_parent();
    return parent ? command_path(*parent) + " " + command.get_name() : "sluice";
}

std::vector<const CLI::App*> visible_commands(const CLI::App& command) {
    return command.get_subcommands(
        [](const CLI::App* sub) { return !sub->get_name().empty() && !sub->get_group().empty(); });
}

std::vector<const CLI::Option*> visible_flags(const CLI::App& command) {
    return command.get_options([](const CLI::Option* option) {
        return option->nonpositional() && !option->get_group().empty();
    });
}

std::vector<const CLI::Option*> positionals(const CLI::App& command) {
    return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::string flag_name(const CLI::Option& flag) {
    if (!flag.get_lnames().empty()) return "--" + flag.get_lnames().front();
    return flag.get_snames().empty() ? flag.get_name() : "-" + flag.get_snames().front();
}

bool takes_value(const CLI::Option& flag) {
    return flag.get_items_expected_max() > 0;
}

}  // namespace sluice::cli
