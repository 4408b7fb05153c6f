#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "checker/story.hpp"

namespace sluice::checker {

// The invariant is among those that this run breaks.
inline void expect_broken(const Story& story, const std::string& id) {
    const Verdict verdict = story.judge();
    const auto broken = verdict.broken();
    EXPECT_NE(std::find(broken.begin(), broken.end(), id), broken.end()) << verdict.table();
}

// This run breaks nothing.
inline void expect_clean(const Story& story) {
    const Verdict verdict = story.judge();
    EXPECT_TRUE(verdict.is_clean()) << verdict.table();
}

// Makes an operation a refused one.
inline void refuse(Fields& operation, int status, const std::string& code) {
    operation["outcome"] = "fail";
    operation["status"] = status;
    operation["result"] = Fields{{"code", code}};
}

// Makes the outcome of an operation unknown.
inline void lose(Fields& operation) {
    operation["outcome"] = "info";
    operation["status"] = 0;
    operation["result"] = nullptr;
}

}  // namespace sluice::checker
