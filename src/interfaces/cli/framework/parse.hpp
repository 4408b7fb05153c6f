#pragma once

#include <string>
#include <vector>

#include "interfaces/cli/framework/command.hpp"

namespace sluice::cli {

struct Parsed {
    const Command* command = nullptr;  // to run; none when the rest was all
    int exit_code = 0;
};

// Reads the words after the program's name, and gives the options of the command that they name
// their values, of which none may be empty. "help COMMAND" means "COMMAND --help". When help was
// asked for, or the words make no sense, the parser prints that, with the nearest name that is
// known.
Parsed parse(const Command& program, std::vector<std::string> words);

}  // namespace sluice::cli
