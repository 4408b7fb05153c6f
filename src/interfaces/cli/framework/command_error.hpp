#pragma once

#include <stdexcept>
#include <string>

#include "interfaces/cli/terminal/exit_code.hpp"

namespace sluice::cli {

// Ends a command with a message for people and an exit code.
class CommandError : public std::runtime_error {
  public:
    CommandError(ExitCode code, const std::string& message)
        : std::runtime_error(message), code_(code) {}

    ExitCode code() const { return code_; }

  private:
    ExitCode code_;
};

}  // namespace sluice::cli
