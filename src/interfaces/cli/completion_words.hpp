#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sluice::cli {

const std::vector<std::string>& shell_names();

// Prints what the last of the words may become: commands, flags, and values, for some of which it
// asks the engine, shortly and without a word when there is none.
void print_candidates(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace sluice::cli
