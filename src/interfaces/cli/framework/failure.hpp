#pragma once

#include <string>

#include "sluice/error.hpp"

namespace sluice::cli {

// The exit code and message of a command that failed.
struct Failure {
    int code = 1;           // to exit with
    std::string message{};  // the problem, and its remedy
};

Failure failure_of(const client::Error& error);

}  // namespace sluice::cli
