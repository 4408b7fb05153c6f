#pragma once

#include <string>

#include "sluice/error.hpp"

namespace sluice::cli {

// What a command that could not be done tells.
struct Failure {
    int code = 1;           // to exit with
    std::string message{};  // what was wrong, and what to do about it
};

Failure failure_of(const client::Error& error);

}  // namespace sluice::cli
