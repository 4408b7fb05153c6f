#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The environment of commands. The environment of an engine or a worker may hold secrets, so a
// command gets only the variables that are listed here, that the configuration names, and that
// describe its job.
namespace sluice::worker {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Whether every command gets a variable of this name: PATH, HOME, USER, LOGNAME, SHELL, TERM,
// TMPDIR, TZ, LANG, LANGUAGE and LC_….
bool is_usual_variable(std::string_view name);

// Letters, digits and '_', the first one no digit.
bool is_variable_name(std::string_view name);

// The variables of these names that this process has, with their values.
Variables variables_named(const std::vector<std::string>& names);

// Keeps the secrets of this process from the commands that it starts, which run as the same user.
// Its environment moves to memory that /proc/PID/environ does not show; only root can look into the
// process or attach a debugger; and it leaves no core dump, which would hold tokens and payloads.
// To be called before other threads run. Processes that it starts are not affected.
void hide_from_commands();

}  // namespace sluice::worker
