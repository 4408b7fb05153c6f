#pragma once

#include <gtest/gtest.h>

#include <string>

#include "e2e/cli.hpp"

// Shared by tests of commands with tokens.
namespace sluice::e2e {

// The secret part of an access token.
inline std::string secret_of(const std::string& token) {
    return token.substr(token.rfind('_', token.size() - 43 - 1) + 1);
}

// A command must not have repeated the token.
inline void expect_untold(const Ended& ended, const std::string& token) {
    const std::string secret = token.starts_with("slu_") ? secret_of(token) : token;
    EXPECT_FALSE(has(ended.output, secret)) << ended.output;
    EXPECT_FALSE(has(ended.errors, secret)) << ended.errors;
}

// The command with these variables, such as NAME=value.
inline Words in_environment(Words environment, const Words& command) {
    environment.insert(environment.begin(), "/usr/bin/env");
    environment.insert(environment.end(), command.begin(), command.end());
    return environment;
}

inline Ended run_to_end(Process& process, Millis patience = Millis(20'000)) {
    const auto code = process.wait(patience);
    return {code.value_or(-1), process.output(), process.errors()};
}

}  // namespace sluice::e2e
