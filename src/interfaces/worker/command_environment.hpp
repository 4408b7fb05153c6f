#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What commands have in their environment, and what is kept from them. The environment of an engine
// or a worker may hold secrets, so a command gets of it only what is listed here, what the
// configuration names, and what tells of its job.
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
// Its environment moves to where /proc/PID/environ does not show it; only root can look into the
// process or attach a debugger; and it leaves no core dump, which would hold tokens and payloads.
// For before other threads run. What the process starts is not affected.
void hide_from_commands();

}  // namespace sluice::worker
