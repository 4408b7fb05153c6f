#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "e2e/api.hpp"
#include "e2e/terminal.hpp"

namespace sluice::e2e {

using Words = std::vector<std::string>;

// A person at the command line of an engine that keeps its jobs in memory, in a queue of their own;
// `api` acts as the worker.
class CliTest : public testing::Test {
  protected:
    CliTest();

    std::string server() const;

    // Runs the binary on pipes, and on a terminal, with these arguments and the engine's address.
    Ended cli(const Words& words) const;
    Ended on_terminal(const Words& words, const TerminalOptions& options = {}) const;
    Words with_server(Words words) const;

    // A job of this test's queue, submitted by the command line; returns its id.
    std::string run_job(const Words& more = {}) const;

    // Jobs that have come to their end.
    std::string succeeded_job(const std::string& result = R"({"n":1})");
    std::string failed_job();

    Engine& engine;
    Api api;
    const TempFolder folder;  // also where @last is kept
};

bool has(const std::string& text, const std::string& part);

// Lines without their ends.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace sluice::e2e
