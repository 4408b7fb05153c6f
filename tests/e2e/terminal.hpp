#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "e2e/engine.hpp"
#include "e2e/process.hpp"

namespace sluice::e2e {

struct TerminalOptions {
    int columns = 120;
    // Set for the program; TERM is xterm unless it is named here.
    std::vector<std::pair<std::string, std::string>> environment{};
};

// The binary on a terminal of its own, with its standard streams there, as a person would run it.
// It is killed, if it still runs, when the handle goes. One thread.
class Terminal {
  public:
    explicit Terminal(const std::vector<std::string>& arguments,
                      const TerminalOptions& options = {});
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    // Whether this appears in the program's output, from its start on.
    bool shows(const std::string& text, Millis patience = Millis(10'000));

    void type(const std::string& keys);

    // Its exit code, or 128 and the signal's number. Nothing: it still runs.
    std::optional<int> wait(Millis patience = Millis(20'000));

    // Every byte so far, escape sequences and all.
    const std::string& written() const { return written_; }

    // The final screen: lines as a terminal leaves them, without colours.
    std::string screen() const;

  private:
    bool read_some(Millis patience);  // false: nothing came in time, or all is read

    pid_t pid_ = -1;
    int master_ = -1;
    std::string written_;
    std::optional<int> end_;
};

// A run on a terminal that ends by itself; its output is the screen.
Ended run_on_terminal(const std::vector<std::string>& arguments,
                      const TerminalOptions& options = {});

}  // namespace sluice::e2e
