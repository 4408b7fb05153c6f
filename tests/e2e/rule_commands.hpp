#pragma once

#include "e2e/cli.hpp"
#include "e2e/limits_support.hpp"

namespace sluice::e2e {

// An engine for the tests of one class, where rules are for all who use the engine.
class OwnEngineCliTest : public testing::Test {
  protected:
    Ended cli(Words words) const {
        words.insert(words.end(), {"--server", "http://127.0.0.1:" + std::to_string(api.port())});
        return run_sluice(words);
    }

    Engine engine{"memory:"};
    Api api{engine.port(), "default"};
};

// Commands that change rules.
template <class Base>
class RuleCommands : public Base {
  protected:
    Ended tried(Words words) const {
        words.insert(words.end(), {"--reason", "a test"});
        return this->cli(words);
    }
    // A change that is not refused; returns the id that it prints.
    std::string changed(const Words& words) const {
        const Ended ended = tried(words);
        EXPECT_EQ(ended.code, 0) << ended.errors;
        EXPECT_EQ(ended.output.size(), 25u) << ended.output;
        return ended.output.substr(0, 24);
    }
};

}  // namespace sluice::e2e
