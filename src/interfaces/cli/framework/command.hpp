#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// Commands as data: a tree that the parser fills in, and that --help, the manual page and the
// completion of shells are made from.
namespace sluice::cli {

// The parser handles these itself, and runs no command.
struct HelpFlag {};
struct VersionFlag {
    std::string text{};
};

// Where the parser puts a value. A bool is a flag without a value; a list takes each value that is
// given.
using Target = std::variant<HelpFlag, VersionFlag, bool*, int*, std::optional<int>*, std::string*,
                            std::optional<std::string>*, std::vector<std::string>*>;

// A flag, or an argument, which has a position instead of a dash.
struct Option {
    std::vector<std::string> names;  // "-o", "--output"; an argument has one, like "ID"
    std::string help;
    Target target;
    std::string value_name{};    // of a flag with a value, like "FORMAT"
    std::string heading{};       // in --help; empty: that of most flags
    std::string default_text{};  // in --help
    std::string variable{};      // of the environment, which gives the value when no flag does
    std::string excludes{};      // an earlier flag, which must not be given beside this one
    bool is_required = false;

    bool is_list() const { return std::holds_alternative<std::vector<std::string>*>(target); }
    bool takes_value() const;
    const std::string& main_name() const;  // the first long name; else the short one
};

class Command {
  public:
    // The program, which has a flag for its version.
    Command(std::string name, std::string summary, std::string version);

    // A command with others below it does nothing by itself: one of them must be named.
    Command& add_command(std::string name, std::string summary);
    // It is neither in --help nor in the manual page, and shells do not complete it.
    Command& add_hidden_command(std::string name, std::string summary);

    // The target must live as long as this; the text or number that it holds is the default, which
    // --help shows. Several names have commas between them, short ones first: "-o,--output".
    Option& add_flag(std::string_view names, bool* target, std::string help) {
        return add_option(names, target, {}, std::move(help));
    }
    Option& add_option(std::string_view names, Target target, std::string value_name,
                       std::string help);
    Option& add_argument(std::string name, Target target, std::string help);  // is required

    // Flags that are added from now on stand below this heading; by default, with most others.
    void begin_heading(std::string heading = {}) { heading_ = std::move(heading); }

    // All words after the mark, a flag of the command, are kept here as they stand; "--" means the
    // same as the mark. Without a mark all words are kept, also those that look like flags. Only
    // for a command right below the program.
    void keep_rest(std::vector<std::string>& words, std::string mark = {});

    void set_footer(std::string text) { footer_ = std::move(text); }  // the end of --help

    // Sets the action of the command, which returns the exit code.
    void runs(std::function<int()> run) { action_ = std::move(run); }

    // The same with flags of its own, which it returns so that options can be bound to them.
    template <class Flags>
    Flags& runs(int (*run)(const Flags&)) {
        const auto flags = std::make_shared<Flags>();
        action_ = [flags, run] { return run(*flags); };
        return *flags;
    }

    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    const std::string& name() const { return name_; }
    const std::string& summary() const { return summary_; }
    const std::string& footer() const { return footer_; }
    const Command* parent() const { return parent_; }
    bool is_hidden() const { return is_hidden_; }
    const std::function<int()>& action() const { return action_; }
    std::vector<std::string>* rest() const { return rest_; }
    const std::string& rest_mark() const { return rest_mark_; }
    std::string path() const;  // "sluice job list"

    // All of these are in the order in which they were added.
    const std::list<Command>& commands() const { return commands_; }
    std::vector<const Command*> visible_commands() const;
    const std::deque<Option>& flags() const { return flags_; }
    const std::deque<Option>& arguments() const { return arguments_; }

    // Nothing when there is none of this name.
    const Command* find_command(std::string_view name) const;
    const Option* find_flag(std::string_view name) const;

    // Is only for add_command().
    Command(const Command* parent, std::string name, std::string summary);

  private:
    const Command* parent_ = nullptr;
    std::string name_;
    std::string summary_;
    std::string footer_{};
    std::string heading_{};
    bool is_hidden_ = false;
    std::function<int()> action_{};
    std::list<Command> commands_{};
    std::deque<Option> flags_{};
    std::deque<Option> arguments_{};
    std::vector<std::string>* rest_ = nullptr;
    std::string rest_mark_{};
};

// The end of --help. Every line must work as it stands, after `sluice dev`.
std::string examples(const std::vector<std::string>& lines);

}  // namespace sluice::cli
