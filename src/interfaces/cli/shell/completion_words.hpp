#pragma once

#include <string>
#include <vector>

#include "interfaces/cli/framework/command.hpp"

namespace sluice::cli {

const std::vector<std::string>& shell_names();

// Prints the completions of the last word: commands, flags, and values, for some of which it asks
// the engine, with a short limit and without a message when there is none.
void print_candidates(const Command& program, const std::vector<std::string>& words);

}  // namespace sluice::cli
