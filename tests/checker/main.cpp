// Checks a run from its two files: jobcheck RECORD HISTORY
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>

#include "checker/checker.hpp"

namespace {

int run(const char* record_path, const char* history_path) {
    std::ifstream record(record_path);
    std::ifstream history(history_path);
    if (!record || !history) {
        fmt::print(stderr, "cannot read {} or {}\n", record_path, history_path);
        return 2;
    }
    const auto verdict = sluice::checker::check(sluice::checker::read_evidence(record, history));
    fmt::print("{}", verdict.table());
    return verdict.is_clean() ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        fmt::print(stderr, "usage: jobcheck RECORD HISTORY\n");
        return 2;
    }
    try {
        return run(arguments[1], arguments[2]);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}
