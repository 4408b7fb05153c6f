#include "interfaces/cli/framework/command.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::cli {
namespace {

std::vector<std::string> split_names(std::string_view names) {
    std::vector<std::string> all;
    for (std::size_t comma = 0; comma != std::string_view::npos;) {
        comma = names.find(',');
        all.emplace_back(names.substr(0, comma));
        if (comma != std::string_view::npos) names.remove_prefix(comma + 1);
    }
    return all;
}

std::string default_text(const Target& target) {
    if (const auto* text = std::get_if<std::string*>(&target)) return **text;
    if (const auto* number = std::get_if<int*>(&target)) return std::to_string(**number);
    return {};
}

bool is_long(const std::string& name) {
    return name.starts_with("--");
}

}  // namespace

bool Option::takes_value() const {
    return !std::holds_alternative<HelpFlag>(target) &&
           !std::holds_alternative<VersionFlag>(target) && !std::holds_alternative<bool*>(target);
}

const std::string& Option::main_name() const {
    const auto found = std::find_if(names.begin(), names.end(), is_long);
    return found == names.end() ? names.front() : *found;
}

Command::Command(std::string name, std::string summary, std::string version)
    : Command(nullptr, std::move(name), std::move(summary)) {
    flags_.push_back({.names = {"--version"},
                      .help = "Display program version information and exit",
                      .target = VersionFlag{std::move(version)}});
}

Command::Command(const Command* parent, std::string name, std::string summary)
    : parent_(parent), name_(std::move(name)), summary_(std::move(summary)) {
    flags_.push_back({.names = {"-h", "--help"},
                      .help = "Print this help message and exit",
                      .target = HelpFlag{}});
}

Command& Command::add_command(std::string name, std::string summary) {
    return commands_.emplace_back(this, std::move(name), std::move(summary));
}

Command& Command::add_hidden_command(std::string name, std::string summary) {
    Command& command = add_command(std::move(name), std::move(summary));
    command.is_hidden_ = true;
    return command;
}

Option& Command::add_option(std::string_view names, Target target, std::string value_name,
                            std::string help) {
    return flags_.emplace_back(Option{.names = split_names(names),
                                      .help = std::move(help),
                                      .target = target,
                                      .value_name = std::move(value_name),
                                      .heading = heading_,
                                      .default_text = default_text(target)});
}

Option& Command::add_argument(std::string name, Target target, std::string help) {
    return arguments_.emplace_back(Option{.names = {std::move(name)},
                                          .help = std::move(help),
                                          .target = target,
                                          .is_required = true});
}

void Command::keep_rest(std::vector<std::string>& words, std::string mark) {
    rest_ = &words;
    rest_mark_ = std::move(mark);
    if (rest_mark_.empty()) flags_.clear();
}

std::string Command::path() const {
    return parent_ ? parent_->path() + " " + name_ : name_;
}

std::vector<const Command*> Command::visible_commands() const {
    std::vector<const Command*> visible;
    for (const Command& command : commands_) {
        if (!command.is_hidden_) visible.push_back(&command);
    }
    return visible;
}

const Command* Command::find_command(std::string_view name) const {
    const auto found = std::find_if(commands_.begin(), commands_.end(),
                                    [&](const Command& command) { return command.name_ == name; });
    return found == commands_.end() ? nullptr : &*found;
}

const Option* Command::find_flag(std::string_view name) const {
    const auto found = std::find_if(flags_.begin(), flags_.end(), [&](const Option& flag) {
        return std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end();
    });
    return found == flags_.end() ? nullptr : &*found;
}

std::string examples(const std::vector<std::string>& lines) {
    return fmt::format("Examples:\n  {}\n", fmt::join(lines, "\n  "));
}

}  // namespace sluice::cli
